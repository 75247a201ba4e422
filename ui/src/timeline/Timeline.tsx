export function Timeline() { return <p>The timeline.</p>; }
