import type { WalletBet } from '../../../../tools/simulator/wallet/ledger.ts';
import type { SimulatedWallet } from '../../../../tools/simulator/wallet/wallet.ts';
import { type Ran, wagergate } from '../../../cli/support/command-line.ts';
import type { TestGateway } from '../../../support/gateway.ts';

/** A line of a wallet's own list. */
export interface Listed {
  readonly transactionId: string;
  readonly currency: string;
  readonly stake: string;
  readonly payout: string;
  readonly state: string;
}

const STATES = {
  waiting: 'placed',
  settled: 'settled',
  rolled_back: 'rolled_back',
  tombstone: 'rolled_back',
} as const satisfies Record<WalletBet['status'], string>;

/** A wallet's own bets as an honest list. */
export function listOf(wallet: SimulatedWallet): Listed[] {
  return [...wallet.bets.values()].map(({ transactionId, currency, stake, paid, status }) => ({
    transactionId,
    currency,
    stake,
    payout: paid,
    state: STATES[status],
  }));
}

export const HEADER = 'transactionId,currency,stake,payout,state';

export function csvOf(list: readonly Listed[]): string {
  const lines = list.map((bet) =>
    [bet.transactionId, bet.currency, bet.stake, bet.payout, bet.state].join(','),
  );
  return `${[HEADER, ...lines].join('\n')}\n`;
}

export const today = () => new Date().toISOString().slice(0, 10);

/** A day this many days from now, so that the hour of the test does not matter. */
export const around = (days: number) =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** What `wagergate reconcile --json` prints. */
export interface Told {
  readonly id: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly new: number;
  readonly open: Readonly<Record<string, number>>;
  readonly differences: readonly {
    readonly id: string;
    readonly kind: string;
    readonly transactionId: string | null;
    readonly here: Readonly<Record<string, string | number | null>> | null;
    readonly there: Readonly<Record<string, string | number | null>> | null;
    readonly line: number | null;
    readonly reason: string | null;
    readonly known: boolean;
    readonly resolution: unknown;
  }[];
}

/** Runs `wagergate reconcile` from yesterday to tomorrow with the list on stdin. */
export async function reconcile(
  gateway: Pick<TestGateway, 'databaseUrl' | 'configFolder'>,
  list: string | Buffer,
  { operator = 'alpha', more = [] }: { operator?: string; more?: readonly string[] } = {},
): Promise<Ran & { readonly told: Told | undefined }> {
  const args = ['reconcile', '--operator', operator, '--from', around(-1), '--to', around(1)];
  const ran = await wagergate([...args, '--file', '-', '--json', ...more], {
    env: {
      DATABASE_URL: gateway.databaseUrl,
      GATEWAY_CONFIG: gateway.configFolder,
      SERVICE_SECRET: 'the-services-secret',
    },
    stdin: list,
  });
  return { ...ran, told: ran.stdout === '' ? undefined : (JSON.parse(ran.stdout) as Told) };
}

/** Every difference as `kind transactionId`, sorted. */
export function kindsOf(told: Told | undefined): string[] {
  const differences = told?.differences ?? [];
  return differences.map(({ kind, transactionId }) => `${kind} ${transactionId}`).sort();
}
