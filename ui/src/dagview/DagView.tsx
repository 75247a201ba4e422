export function DagView() { return <p>The DAG.</p>; }
