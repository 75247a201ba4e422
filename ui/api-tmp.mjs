import { Browser } from "/work/h/v/ui/e2e/harness.mjs";
const [file, path, n="1500"] = process.argv.slice(2);
const b = new Browser({workspan:process.env.WORKSPAN, runs:{}, chromiumPath:process.env.CHROMIUM});
await b.start();
try {
  const {url} = await b.view([file]);
  for (let i=0;i<100;i++){ const r = await fetch(url.replace(/#.*/,"")+path); if (r.status===200){ const t=await r.text(); console.log(t.length, t.slice(0,Number(n))); break;} if(r.status!==202){console.log(r.status, await r.text());break;} await new Promise(x=>setTimeout(x,500)); }
} finally { await b.stop(); }
