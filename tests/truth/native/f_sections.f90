! Sections, and a workshare-like region in which one thread works alone.
program parts
  use truth
  implicit none
  !$omp parallel
  !$omp sections
  !$omp section
  call spin(20000)
  !$omp section
  call spin(20000)
  !$omp end sections
  !$omp single
  call spin(20000)
  !$omp end single
  !$omp end parallel
  call spin(20000)
  call say("work_us=80000 span_min_us=60000" // c_null_char)
end program
