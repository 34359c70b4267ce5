import { sameAmount, subtractAmounts } from '../../src/domain/amount.ts';
import { unreachable } from '../../src/domain/unreachable.ts';
import { type Column, table } from '../../src/lib/table.ts';
import { type BelievedBet, believedNet, type ServiceBooks } from './service-books.ts';
import { netOf, type WalletBet } from './wallet/ledger.ts';
import type { WalletBooks } from './wallet/wallet.ts';

/** One bet in both books; a side that does not know it is `undefined`. */
export interface BetRow {
  readonly transactionId: string;
  readonly wallet: string | undefined;
  readonly userId: string | undefined;
  readonly user: string | undefined;
  readonly currency: string;
  readonly believed: { readonly state: string; readonly net: string } | undefined;
  readonly held: { readonly state: string; readonly net: string } | undefined;
  readonly agrees: boolean;
}

/** One player's money in one currency in both books. */
export interface PlayerRow {
  readonly wallet: string | undefined;
  readonly user: string | undefined;
  readonly userId: string | undefined;
  readonly currency: string;
  /** The balance at the wallet, and the part of it that the bets moved. */
  readonly balance: string | undefined;
  readonly held: string;
  /** What the bets moved according to the service. */
  readonly believed: string;
  readonly agrees: boolean;
}

export interface BooksComparison {
  readonly bets: readonly BetRow[];
  readonly players: readonly PlayerRow[];
  /** Every disagreement, in words; empty if the books agree. */
  readonly differences: readonly string[];
}

/** Compares the service's books with all wallets', by `transactionId`, and players by their common bets. */
export function compareBooks(
  service: ServiceBooks,
  wallets: readonly WalletBooks[],
): BooksComparison {
  const bets = betRows(service, wallets);
  const players = playerRows(bets, service, wallets);
  const differences = [
    ...bets.filter((row) => !row.agrees).map(betDifference),
    ...players.filter((row) => !row.agrees).map(playerDifference),
    ...mixedUpPlayers(bets),
    ...betsInTwoWallets(wallets),
    ...service.bets.flatMap((bet) =>
      bet.doubt === undefined
        ? []
        : `bet ${bet.transactionId}: the service has no definite answer to its ${bet.doubt}`,
    ),
  ];
  return { bets, players, differences };
}

function betRows(service: ServiceBooks, wallets: readonly WalletBooks[]): BetRow[] {
  const held = new Map<string, { wallet: string; bet: WalletBet }>();
  for (const { name, bets } of wallets) {
    for (const bet of bets) held.set(bet.transactionId, { wallet: name, bet });
  }
  const believed = new Map(service.bets.map((bet) => [bet.transactionId, bet]));
  const ids = new Set([...believed.keys(), ...held.keys()]);
  return [...ids].map((id) => betRow(id, believed.get(id), held.get(id)));
}

function betRow(
  transactionId: string,
  believed: BelievedBet | undefined,
  found: { wallet: string; bet: WalletBet } | undefined,
): BetRow {
  const believedMoney = believed === undefined ? '0' : believedNet(believed);
  const heldMoney = found === undefined ? '0' : netOf(found.bet);
  return {
    transactionId,
    wallet: found?.wallet,
    userId: believed?.userId,
    user: found?.bet.user,
    currency: believed?.currency ?? found?.bet.currency ?? '',
    believed: believed && { state: believed.state, net: believedMoney },
    held: found && { state: found.bet.status, net: heldMoney },
    agrees: sameAmount(believedMoney, heldMoney) && statesAgree(believed, found?.bet),
  };
}

/** Comparing money is not enough: a bet refunded by its result and a bet rolled back both moved nothing. */
function statesAgree(believed: BelievedBet | undefined, held: WalletBet | undefined): boolean {
  const isOver = held === undefined || held.status === 'rolled_back' || held.status === 'tombstone';
  if (believed === undefined) return isOver;
  switch (believed.state) {
    case 'placing':
    case 'rolling_back':
    case 'declined':
    case 'rolled_back':
      return isOver;
    case 'accepted':
      return held?.status === 'waiting' && held.currency === believed.currency;
    case 'settled':
      return held?.status === 'settled' && held.currency === believed.currency;
  }
  return unreachable(believed.state);
}

function playerRows(
  bets: readonly BetRow[],
  service: ServiceBooks,
  wallets: readonly WalletBooks[],
): PlayerRow[] {
  const userIdOf = new Map(
    bets.flatMap((row) => (row.userId === undefined ? [] : [[playerKey(row), row.userId]])),
  );
  const linked = new Set(bets.flatMap((row) => (row.wallet === undefined ? [] : [row.userId])));
  const believedBy = new Map(
    service.accounts.map(({ userId, currency, net }) => [accountKey(userId, currency), net]),
  );
  const atWallets = wallets.flatMap(({ name: wallet, accounts }) =>
    accounts.map(({ user, currency, balance, deposited }): PlayerRow => {
      const userId = userIdOf.get(playerKey({ wallet, user }));
      const held = subtractAmounts(balance, deposited);
      const believed =
        userId === undefined ? '0' : (believedBy.get(accountKey(userId, currency)) ?? '0');
      const agrees = sameAmount(held, believed);
      return { wallet, user, userId, currency, balance, held, believed, agrees };
    }),
  );
  const nowhere = service.accounts
    .filter(({ userId, net }) => !linked.has(userId) && !sameAmount(net, '0'))
    .map(({ userId, currency, net }): PlayerRow => {
      const here = { wallet: undefined, user: undefined, balance: undefined, held: '0' };
      return { ...here, userId, currency, believed: net, agrees: false };
    });
  return [...atWallets, ...nowhere];
}

/** One person is one `userId` and one wallet user: anything else means that players were mixed up. */
function mixedUpPlayers(bets: readonly BetRow[]): string[] {
  const pairs = bets.flatMap(({ userId, wallet, user }) =>
    userId === undefined || wallet === undefined ? [] : [{ userId, player: `${wallet}/${user}` }],
  );
  const players = Map.groupBy(pairs, ({ userId }) => userId);
  const userIds = Map.groupBy(pairs, ({ player }) => player);
  return [
    ...[...players].flatMap(([userId, found]) =>
      several(
        userId,
        found.map((one) => one.player),
      ),
    ),
    ...[...userIds].flatMap(([player, found]) =>
      several(
        player,
        found.map((one) => one.userId),
      ),
    ),
  ];
}

function several(one: string, others: readonly string[]): string[] {
  const distinct = [...new Set(others)];
  return distinct.length > 1 ? [`player ${one} is several: ${distinct.join(', ')}`] : [];
}

function betsInTwoWallets(wallets: readonly WalletBooks[]): string[] {
  const all = wallets.flatMap(({ name, bets }) =>
    bets.map(({ transactionId }) => ({ transactionId, name })),
  );
  return [...Map.groupBy(all, ({ transactionId }) => transactionId)]
    .filter(([, found]) => found.length > 1)
    .map(([id, found]) => `bet ${id} reached ${found.map(({ name }) => name).join(' and ')}`);
}

function betDifference(row: BetRow): string {
  const side = (books: BetRow['held']) =>
    books === undefined ? 'does not know it' : `${books.state} ${books.net}`;
  const wallet =
    row.wallet === undefined ? 'no wallet knows it' : `${row.wallet}: ${side(row.held)}`;
  return `bet ${row.transactionId}: service: ${side(row.believed)}; ${wallet}`;
}

function playerDifference(row: PlayerRow): string {
  const who = row.wallet === undefined ? row.userId : `${row.wallet}/${row.user}`;
  return `player ${who} ${row.currency}: service believes ${row.believed}, wallet moved ${row.held}`;
}

function playerKey({ wallet, user }: { wallet: string | undefined; user: string | undefined }) {
  return JSON.stringify([wallet, user]);
}

function accountKey(userId: string, currency: string): string {
  return JSON.stringify([userId, currency]);
}

const PLAYER_COLUMNS: readonly Column[] = [
  { title: 'wallet', align: 'left' },
  { title: 'player', align: 'left' },
  { title: 'currency', align: 'left' },
  { title: 'wallet holds', align: 'right' },
  { title: 'wallet moved', align: 'right' },
  { title: 'service believes', align: 'right' },
  { title: '', align: 'left' },
];

/** What each wallet holds and what the service believes, a line per player and currency. */
export function playersTable(comparison: BooksComparison): string {
  return table(
    PLAYER_COLUMNS,
    comparison.players.map((row) => [
      row.wallet ?? '-',
      row.user ?? row.userId ?? '-',
      row.currency,
      row.balance ?? '-',
      row.held,
      row.believed,
      row.agrees ? 'agrees' : 'DIFFERS',
    ]),
  );
}
