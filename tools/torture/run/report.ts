import type { Verdict } from '../play/verdict.ts';
import { textOf } from '../story.ts';

const LINES_MAX = 220;

/** The command that plays a history again. */
export function commandFor({ plan }: Verdict, steps: number): string {
  return `npm run torture -- --seed ${plan.seed} --steps ${steps}`;
}

/** How often each kind of fault came, the most frequent first. */
export function cameText(came: ReadonlyMap<string, number>): string {
  return [...came]
    .sort(([, one], [, other]) => other - one)
    .map(([name, times]) => `${times} ${name}`)
    .join(', ');
}

/** The findings as text, each only once. */
export function findingsText({ findings }: Verdict): string {
  const lines = findings.map(({ bet, kind, text }) => `  ${bet ?? 'all'}: ${kind}: ${text}`);
  return [...new Set(lines)].join('\n');
}

/** What service, gateway and wallet saw of the first two bets with findings; of all bets if there are none. */
export function storiesText({ story, findings, plan }: Verdict): string {
  const found = new Set(findings.flatMap(({ bet }) => (bet === undefined ? [] : [bet])));
  const bets = findings.length === 0 ? plan.bets.map(({ id }) => id) : [...found].slice(0, 2);
  return bets
    .map((bet) => {
      const lines = story.of(bet).slice(0, LINES_MAX).map(textOf);
      const operator = plan.bets.find(({ id }) => id === bet)?.operator;
      return `The story of ${bet} (${operator}, layout ${plan.layout}):\n${lines.join('\n')}`;
    })
    .join('\n\n');
}
