export function Compare() { return <p class="state">Compare</p>; }
