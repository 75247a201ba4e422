! OpenMP tasks in Fortran: heat on a bar, a task a block and step; a block depends on its neighbours' step before.
program heat
  implicit none
  integer, parameter :: blocks = 8, length = 5000, steps = 40
  real(8) :: bar(0:blocks*length+1, 0:1)
  integer :: block, step, from, first, last
  bar = 0
  bar(0, :) = 100
  !$omp parallel
  !$omp single
  do step = 1, steps
     from = mod(step + 1, 2)
     do block = 1, blocks
        first = (block - 1) * length + 1
        last = block * length
        !$omp task firstprivate(first, last, from) &
        !$omp& depend(in: bar(first-1, from), bar(first, from), bar(last, from), bar(last+1, from)) &
        !$omp& depend(out: bar(first, 1-from), bar(last, 1-from))
        call relax(bar, first, last, from)
        !$omp end task
     end do
  end do
  !$omp end single
  !$omp end parallel
  print '(a, f0.6)', 'heat ', sum(bar(1:blocks*length, mod(steps, 2)))

contains

  subroutine relax(bar, first, last, from)
    real(8), intent(inout) :: bar(0:blocks*length+1, 0:1)
    integer, intent(in) :: first, last, from
    integer :: i
    do i = first, last
       bar(i, 1-from) = bar(i, from) + 0.4d0 * (bar(i-1, from) - 2 * bar(i, from) + bar(i+1, from))
    end do
  end subroutine relax
end program heat
