! A loop divided beforehand, and one whose iterations are taken one by one.
program loops
  use truth
  implicit none
  integer :: i, static
  character(80) :: line
  !$omp parallel do schedule(static)
  do i = 1, 16
    call spin(2500)
  end do
  call spin(6000)
  !$omp parallel do schedule(dynamic, 1)
  do i = 1, 16
    call spin(2500)
  end do
  static = (16 + threads() - 1) / threads() * 2500
  write (line, '(a, i0)') "work_us=86000 span_us=", static + 6000 + 2500
  call say(trim(line) // c_null_char)
end program
