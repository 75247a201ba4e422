! A chain of dependent tasks beside free ones.
program chain
  use truth
  implicit none
  integer :: i, x
  x = 0
  !$omp parallel
  !$omp single
  do i = 1, 8
    !$omp task depend(inout: x)
    call spin(4000)
    !$omp end task
    !$omp task
    call spin(6000)
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  call say("work_us=80000 span_us=32000 tasks=16" // c_null_char)
end program
