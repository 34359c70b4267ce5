import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { migrate } from '../src/store/schema/migrate.ts';
import { chromiumPath, launchChromium } from '../tools/console/browser.ts';
import { buildIfStale } from '../tools/console/build.ts';
import { type GatewayProcess, startGatewayProcess } from '../tools/demo/gateway-process.ts';
import { startPostgres } from '../tools/embedded/postgres.ts';
import { startRedis } from '../tools/embedded/redis.ts';
import { fillBets, fillDeliveries, operatorId } from './console/fill.ts';
import { optionsOf, positive } from './support/settings.ts';

const HELP = `npm run bench -- console [options]

How long people at the console wait: for each search of bets and for Now with many operators, from a gateway
in its own process; and until Now can be used in Chromium, if it is installed.

  --bets <n>        bets in the journal (5000000)
  --operators <n>   operators (1000)
  --times <n>       how often each is requested (20)
  --out <file>      where the result goes (bench/results/console.json)`;

const OPTIONS = {
  bets: { type: 'string', default: '5000000' },
  operators: { type: 'string', default: '1000' },
  times: { type: 'string', default: '20' },
  out: { type: 'string', default: 'bench/results/console.json' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** How long a person may wait for a search. */
const SEARCH_MS_MAX = 200;

const secret = () => randomBytes(24).toString('base64url');

interface Times {
  readonly medianMs: number;
  readonly slowestMs: number;
}

/** @returns the exit code: 1 if the median of a search is above 200 ms */
export async function runConsole(args: readonly string[]): Promise<number> {
  const values = optionsOf(args, OPTIONS);
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const bets = positive('--bets', values.bets);
  const operators = positive('--operators', values.operators);
  const times = positive('--times', values.times);
  await using running = new AsyncDisposableStack();
  const postgres = await startPostgres({ fast: true });
  running.defer(() => postgres.stop());
  const redis = await startRedis();
  running.defer(() => redis.stop());
  await migrate(postgres.url);
  await fill(postgres.url, bets, operators);
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-bench-console-'));
  running.defer(() => rm(folder, { recursive: true, force: true }));
  await writeOperators(folder, operators);
  const token = secret();
  const gateway = await startGatewayProcess({
    ...{ DATABASE_URL: postgres.url, REDIS_URL: redis.url, GATEWAY_CONFIG: folder, ROLES: 'http' },
    ...{ HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', ADMIN_TOKEN: token, LOG_LEVEL: 'info' },
  });
  running.defer(() => gateway.stop());
  const asking = new Asking(gateway, token, times);
  const searches = await asking.searches();
  const now = await asking.timesOf('/admin/operators');
  console.log(`Now, ${operators} operators: ${JSON.stringify(now)}`);
  const browser = await interactive(gateway.adminUrl, token);
  await write(values.out, { settings: { bets, operators, times }, searches, now, browser });
  const slow = Object.entries(searches).filter(([, { medianMs }]) => medianMs > SEARCH_MS_MAX);
  for (const [name] of slow) console.error(`too slow: ${name}`);
  return slow.length === 0 ? 0 : 1;
}

async function fill(url: string, bets: number, operators: number): Promise<void> {
  const startedAtMs = performance.now();
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await fillBets(client, bets, operators);
    await fillDeliveries(client, operators);
  } finally {
    await client.end();
  }
  console.log(`${bets} bets written in ${Math.round((performance.now() - startedAtMs) / 1000)} s`);
}

async function writeOperators(folder: string, operators: number): Promise<void> {
  await mkdir(join(folder, 'operators'));
  await writeFile(
    join(folder, 'gateway.yaml'),
    `service:\n  cid: bench\n  secrets: [${secret()}]\n  bonusApiUrl: https://service.example\n`,
  );
  for (let number = 1; number <= operators; number += 1) {
    const id = operatorId(number);
    await writeFile(
      join(folder, 'operators', `${id}.yaml`),
      `id: ${id}\nname: Operator ${number}\ncurrencies: [EUR]\n` +
        `wallet: { baseUrl: https://${id}.example, secrets: [${secret()}] }\n` +
        `api: { cid: ${id}-key, secrets: [${secret()}] }\n`,
    );
  }
}

/** Every kind of search on the page Bets, common and rare. */
const SEARCHES: Readonly<Record<string, string>> = {
  everything: '',
  'a bet': 'transactionId=c0ffee',
  'a player at the service': 'userId=id-4711',
  'a player at whatever operator': 'operatorUser=user-4711',
  'an operator': 'operator=operator-7',
  'a common state': 'state=settled',
  'a rare state': 'state=unknown',
  'a state that no bet has': 'state=not_sent',
  "an operator's rare state": 'operator=operator-7&state=unknown',
  'an hour long ago': 'from=2020-01-01&to=2020-01-02',
  'a common stake': 'amount=10',
  'a rare stake': 'amount=10.01',
  "a common stake's rare state": 'amount=10&state=unknown',
  "a common stake's state that no bet has": 'amount=10&state=not_sent',
  "an operator's common stake": 'amount=10&operator=operator-7',
};

class Asking {
  readonly #gateway: GatewayProcess;
  readonly #token: string;
  readonly #times: number;

  constructor(gateway: GatewayProcess, token: string, times: number) {
    this.#gateway = gateway;
    this.#token = token;
    this.#times = times;
  }

  async searches(): Promise<Readonly<Record<string, Times>>> {
    const measured: Record<string, Times> = {};
    for (const [name, query] of Object.entries(SEARCHES)) {
      measured[name] = await this.timesOf(`/admin/bets?${query}`);
      console.log(`${name}: ${JSON.stringify(measured[name])}`);
    }
    return measured;
  }

  /** From the request to the last byte of the answer, over the loopback. */
  async timesOf(path: string): Promise<Times> {
    const taken: number[] = [];
    for (let time = 0; time < this.#times; time += 1) {
      const startedAtMs = performance.now();
      const response = await fetch(`${this.#gateway.adminUrl}${path}`, {
        headers: { authorization: `Bearer ${this.#token}` },
      });
      const text = await response.text();
      taken.push(performance.now() - startedAtMs);
      if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    }
    return timesFrom(taken);
  }
}

function timesFrom(taken: readonly number[]): Times {
  const sorted = [...taken].sort((one, other) => one - other);
  const rounded = (ms: number | undefined) => Math.round((ms ?? 0) * 10) / 10;
  return {
    medianMs: rounded(sorted[Math.floor(sorted.length / 2)]),
    slowestMs: rounded(sorted.at(-1)),
  };
}

const LOADS = 5;

/** Until the worst operators are shown and the filter reacts to typing; each time with an empty cache. */
async function interactive(adminUrl: string, token: string): Promise<Times | undefined> {
  const path = chromiumPath();
  if (path === undefined) {
    console.log('No Chromium here (CHROMIUM names one): no browser was measured.');
    return undefined;
  }
  await buildIfStale();
  const browser = await launchChromium(path);
  const taken: number[] = [];
  try {
    for (let load = 0; load < LOADS; load += 1) {
      const context = await browser.newContext({
        extraHTTPHeaders: { authorization: `Bearer ${token}` },
      });
      const page = await context.newPage();
      const startedAtMs = performance.now();
      await page.goto(`${adminUrl}/console`);
      await page.getByText('1 dead').first().waitFor();
      await page.getByLabel('Only operators whose id or name holds').fill('operator-999');
      await page.getByRole('row', { name: 'Operator 999' }).waitFor();
      taken.push(performance.now() - startedAtMs);
      await context.close();
    }
  } finally {
    await browser.close();
  }
  const times = timesFrom(taken);
  console.log(`Now in Chromium, until a filter works: ${JSON.stringify(times)}`);
  return times;
}

async function write(file: string, figures: object): Promise<void> {
  const on = {
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    processors: availableParallelism(),
  };
  const result = { benchmark: 'console', measuredAt: new Date().toISOString(), on, ...figures };
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(result, undefined, 2)}\n`);
}
