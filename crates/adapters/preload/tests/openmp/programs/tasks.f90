! Tasks of a Fortran program.
program tasks
  implicit none
  integer :: x, y
  x = 0
  y = 0
  !$omp parallel shared(x, y) ! @region
  !$omp single
  !$omp task shared(x) ! @a
  x = 1
  !$omp end task
  !$omp task shared(y) ! @b
  y = 2
  !$omp end task
  !$omp taskwait
  print '(i0,1x,i0)', x, y
  !$omp end single
  !$omp end parallel
end program tasks
