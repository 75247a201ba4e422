export function Scalability() { return <p class="state">Scalability</p>; }
