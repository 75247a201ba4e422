export function WhatIf() { return <p class="state">WhatIf</p>; }
