import { openHouse } from './house/house.ts';
import { openServers } from './house/servers.ts';
import { play } from './play/play.ts';
import { viewOf } from './play/verdict.ts';
import { writePlan } from './plan/write-plan.ts';
import { textOf } from './story.ts';

const servers = await openServers();
const seed = Number(process.argv[2] ?? 1);
const t = performance.now();
const plan = writePlan(seed, Number(process.argv[3] ?? 40));
const house = await openHouse(servers, plan.layout, process.cwd());
console.log('open', performance.now() - t, plan.layout, plan.bets.length, plan.faults);
for (let n = 0; n < Number(process.argv[4] ?? 1); n++) {
  const p = writePlan(seed + n * 4, Number(process.argv[3] ?? 40));
  const verdict = await play(p, house);
  console.log(p.seed, verdict.findings.map((f) => `${f.bet} ${f.kind}: ${f.text}`), Math.round(verdict.tookMs), verdict.walletCalls);
  const f = verdict.findings[0];
  if (f?.bet && process.env.STORY) {
    for (const line of verdict.story.of(f.bet)) console.log(textOf(line));
    const r = verdict.records.find((r) => r.plan.id === f.bet);
    if (r) console.log((await viewOf(house, r)).lines.join('\n'));
  }
}
await house.close();
await servers.close();
