import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { runLoad } from './callbacks/load-job.ts';
import { CONFIG_FOLDER, type Servers, startServers } from './callbacks/servers.ts';
import { cpuTimeMs } from './support/cpu-time.ts';
import { optionsOf, positive } from './support/settings.ts';

const HELP = `npm run bench -- place-costs [options]

What a place costs more because of what is stored for people: the wallets' answers (evidence), and the index for
finding bets by their stake. One gateway, alternately as it is, without the one and without the other.

  --rounds <n>   measured rounds of each (11)
  --bets <n>     bets of a round (4000)
  --out <file>   where the result goes (bench/results/place-costs.json)`;

const OPTIONS = {
  rounds: { type: 'string', default: '11' },
  bets: { type: 'string', default: '4000' },
  out: { type: 'string', default: 'bench/results/place-costs.json' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const INDEX = 'CREATE INDEX IF NOT EXISTS "bets_amount_idx" ON "bets"("amount", "created_at") ';
const WHERE = `WHERE "place" <> 'in_flight' AND "amount" IS NOT NULL`;
/** The gateway checks its folder every second or two. */
const RELOAD_MS = 4_000;
const CONNECTIONS = 64;

const KINDS = ['asItIs', 'withoutEvidence', 'withoutIndex'] as const;
type Kind = (typeof KINDS)[number];

interface Measured {
  readonly perSecond: number;
  readonly cpuUs: number;
}

/** @returns the exit code: 1 if a bet was not answered 200 */
export async function runPlaceCosts(args: readonly string[]): Promise<number> {
  const values = optionsOf(args, OPTIONS);
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const [rounds, bets] = [positive('--rounds', values.rounds), positive('--bets', values.bets)];
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-bench-config-'));
  try {
    await cp(CONFIG_FOLDER, folder, { recursive: true });
    await using servers = await startServers({ configFolder: folder });
    const bench = new PlaceCosts(servers, folder, bets);
    await bench.round('asItIs');
    const measured = new Map<Kind, Measured[]>(KINDS.map((kind) => [kind, []]));
    for (let round = 1; round <= rounds; round += 1) {
      for (const kind of inTurn(round)) {
        const figures = await bench.round(kind);
        measured.get(kind)?.push(figures);
        console.log(`round ${round}, ${kind}: ${JSON.stringify(figures)}`);
      }
    }
    const results = Object.fromEntries(
      KINDS.map((kind) => [kind, middle(measured.get(kind) ?? [])]),
    );
    const costs = {
      evidence: costOf(results.asItIs, results.withoutEvidence),
      indexOfStakes: costOf(results.asItIs, results.withoutIndex),
    };
    console.log(JSON.stringify({ results, costs }, undefined, 2));
    await write(values.out, {
      settings: { rounds, bets, connections: CONNECTIONS },
      results,
      costs,
      rounds: Object.fromEntries(measured),
    });
    return bench.refused === 0 ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Each round begins with another kind, so that no kind always comes last. */
function inTurn(round: number): readonly Kind[] {
  const at = round % KINDS.length;
  return [...KINDS.slice(at), ...KINDS.slice(0, at)];
}

class PlaceCosts {
  refused = 0;
  readonly #servers: Servers;
  readonly #folder: string;
  readonly #bets: number;
  #rounds = 0;

  constructor(servers: Servers, folder: string, bets: number) {
    this.#servers = servers;
    this.#folder = folder;
    this.#bets = bets;
  }

  async round(kind: Kind): Promise<Measured> {
    const { gateway, players, serviceSecret: secret } = this.#servers;
    await this.#prepare(kind);
    this.#rounds += 1;
    const before = await cpuTimeMs(gateway.process.pid);
    const { answered, elapsedMs, statuses } = await runLoad({
      client: 'autocannon',
      operation: 'place',
      ...{ url: gateway.url, connections: CONNECTIONS, bets: this.#bets, players, secret },
      prefix: `place-${this.#rounds}-`,
    });
    const after = await cpuTimeMs(gateway.process.pid);
    this.refused += answered - (statuses['200'] ?? 0);
    const cpuMs = before === undefined || after === undefined ? 0 : after - before;
    return {
      perSecond: Math.round((answered * 1000) / elapsedMs),
      cpuUs: Math.round((cpuMs * 1000) / answered),
    };
  }

  async #prepare(kind: Kind): Promise<void> {
    const own = await readFile(join(CONFIG_FOLDER, 'gateway.yaml'), 'utf8');
    const none = own.replace(/^evidence:$/m, 'evidence:\n  acceptedBytes: 0\n  otherBytes: 0');
    if (none === own) throw new Error('gateway.yaml has no evidence to leave out');
    await writeFile(join(this.#folder, 'gateway.yaml'), kind === 'withoutEvidence' ? none : own);
    const client = new Client({ connectionString: this.#servers.databaseUrl });
    await client.connect();
    await client.query(
      kind === 'withoutIndex' ? 'DROP INDEX IF EXISTS bets_amount_idx' : INDEX + WHERE,
    );
    await client.query('CHECKPOINT');
    await client.end();
    await sleep(RELOAD_MS);
  }
}

/** The median of each figure. */
function middle(rounds: readonly Measured[]): Measured {
  const median = (of: (round: Measured) => number) =>
    rounds.map(of).sort((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? 0;
  return { perSecond: median(({ perSecond }) => perSecond), cpuUs: median(({ cpuUs }) => cpuUs) };
}

/** How many fewer bets per second, and how much more processor time of the gateway, in percent. */
function costOf(having: Measured | undefined, lacking: Measured | undefined) {
  if (having === undefined || lacking === undefined) throw new Error('nothing was measured');
  const percent = (share: number) => Math.round(share * 1000) / 10;
  return {
    throughputPercent: percent(1 - having.perSecond / lacking.perSecond),
    cpuPercent: percent(having.cpuUs / lacking.cpuUs - 1),
  };
}

async function write(file: string, figures: object): Promise<void> {
  const on = {
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    processors: availableParallelism(),
  };
  const result = { benchmark: 'place-costs', measuredAt: new Date().toISOString(), on, ...figures };
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(result, undefined, 2)}\n`);
}
