export function Drawer() { return <p class="state">Drawer</p>; }
