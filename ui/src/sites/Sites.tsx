export function Sites() { return <p class="state">Sites</p>; }
