! Tasks of a recursive subroutine: 16 leaves of 4 ms.
program tasks
  use truth
  implicit none
  call spin(8000)
  !$omp parallel
  !$omp single
  call tree(4)
  !$omp end single
  !$omp end parallel
  call spin(8000)
  call say("work_us=80000 span_us=20000 tasks=30" // c_null_char)
contains
  recursive subroutine tree(depth)
    integer, intent(in) :: depth
    if (depth == 0) then
      call spin(4000)
    else
      !$omp task firstprivate(depth)
      call tree(depth - 1)
      !$omp end task
      !$omp task firstprivate(depth)
      call tree(depth - 1)
      !$omp end task
      !$omp taskwait
    end if
  end subroutine
end program
