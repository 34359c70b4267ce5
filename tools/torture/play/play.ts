import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOperator } from '../../simulator/operator.ts';
import { apiSecretOf, cidOf } from '../deployment/configuration.ts';
import type { Deployment } from '../deployment/deployment.ts';
import type { BetPlan, Fate, FaultPlan, Plan } from '../plan/plan.ts';
import type { Player } from '../service/messages.ts';
import { type BetRecord, newRecord } from '../service/record.ts';
import { Service } from '../service/service.ts';
import { CURRENCY, OPENING_BALANCE } from '../settings.ts';
import { Story } from '../story.ts';
import type { WalletCall } from '../world/ledger.ts';
import { Faults } from './faults.ts';
import { type Verdict, verdictOf } from './verdict.ts';

/** Bets that take longer than this are stopped: some operation never gets an answer. */
const LIVES_MS_MAX = 60_000;

const SESSION_TRIES = 5;

/** Plays one history in a deployment from beginning to end. @returns its verdict */
export async function play(plan: Plan, deployment: Deployment): Promise<Verdict> {
  const players = await openSessions(plan, deployment);
  const story = new Story();
  const faults = new Faults(deployment, story);
  const records = plan.bets.map((bet) => newRecord(bet, randomUUID(), playerOf(players, bet)));
  const crashesBefore = deployment.processes.map(({ gateway }) => gateway.crashes.length);
  let isOver = false;
  const service = new Service({
    entrances: deployment.entrances,
    story,
    endSession: (record) => endSession(deployment, record, story),
    isOver: () => isOver,
  });
  for (const record of records) watch(record, plan.faults, deployment, { story, faults });
  const timers = plan.faults.flatMap((fault) =>
    fault.trigger.kind === 'at' ? [setTimeout(() => faults.begin(fault), fault.trigger.ms)] : [],
  );
  const ending = setTimeout(() => {
    isOver = true;
  }, LIVES_MS_MAX);
  try {
    const lives = records.map(async (record) => {
      await sleep(record.plan.startMs);
      await service.live(record);
    });
    await Promise.all(lives);
    await service.idle();
    for (const timer of timers) clearTimeout(timer);
    await faults.heal();
    story.tell('fault', undefined, 'everything is healed');
    return await verdictOf({ plan, deployment, records, story, faults, crashesBefore });
  } finally {
    for (const timer of timers) clearTimeout(timer);
    clearTimeout(ending);
    for (const record of records) unwatch(record, deployment);
  }
}

/** A player for each bet, with money and a live session. */
async function openSessions(
  plan: Plan,
  deployment: Deployment,
): Promise<ReadonlyMap<string, Player>> {
  const baseUrl = deployment.entrances[0]?.gateway.baseUrl ?? '';
  const players = new Map<string, Player>();
  const history = randomUUID().slice(0, 13);
  await Promise.all(
    plan.bets.map(async (bet) => {
      const peers = plan.bets.filter(({ operator }) => operator === bet.operator);
      // Operators have players of the same names on purpose.
      const user = `p-${history}-${peers.indexOf(bet)}`;
      const operatorToken = `operator-token-${randomUUID()}`;
      deployment.wallet(bet.operator).ledger.addPlayer(user, operatorToken, OPENING_BALANCE);
      const operator = operatorAt(baseUrl, bet);
      const request = { operatorUser: user, currency: CURRENCY, operatorToken };
      let opened = await operator.openSession(request);
      // The history has not begun yet: a request that a busy machine refuses is repeated.
      for (let n = 1; n < SESSION_TRIES && opened.session === undefined; n += 1) {
        await sleep(n * 200);
        opened = await operator.openSession(request);
      }
      await operator.close();
      if (opened.session === undefined) throw new Error(`no session: ${opened.body}`);
      const { userId, token } = opened.session;
      players.set(bet.id, { user, userId, token, operatorToken });
    }),
  );
  return players;
}

function playerOf(players: ReadonlyMap<string, Player>, bet: BetPlan): Player {
  const player = players.get(bet.id);
  if (player === undefined) throw new Error(`no player of ${bet.id}`);
  return player;
}

async function endSession(deployment: Deployment, record: BetRecord, story: Story): Promise<void> {
  const baseUrl = deployment.entrances[0]?.gateway.baseUrl ?? '';
  const operator = operatorAt(baseUrl, record.plan);
  const result = await operator.revokeSessions({ token: record.player.token });
  await operator.close();
  story.tell('service', record.plan.id, `the operator ends the session: ${result.status}`);
}

function operatorAt(baseUrl: string, { operator }: BetPlan) {
  return createOperator({ baseUrl, cid: cidOf(operator), secret: apiSecretOf(operator) });
}

/** Sets the fates of the bet's calls at the wallet, and arms the faults that its traffic triggers. */
function watch(
  record: BetRecord,
  faultPlans: readonly FaultPlan[],
  deployment: Deployment,
  { story, faults }: { readonly story: Story; readonly faults: Faults },
): void {
  const { plan, transactionId } = record;
  const wallet = deployment.wallet(plan.operator);
  for (const [amount, code] of Object.entries(plan.refuses)) {
    wallet.ledger.refuseSettle(transactionId, amount, code);
  }
  const waiting = faultPlans.filter(
    ({ trigger }) => trigger.kind !== 'at' && trigger.bet === plan.id,
  );
  const due = (kind: 'wallet' | 'statement', nth: number) =>
    waiting.filter(({ trigger }) => trigger.kind === kind && trigger.nth === nth);
  wallet.watch(transactionId, {
    fateOf: (call, nth) => fateOf(plan, call, nth),
    arrived: ({ call }, count, fate) => {
      const how = fate === undefined ? '' : ` (${fate.id}: ${fate.effect}, ${fate.answer})`;
      const request = call.requestId.slice(0, 8);
      story.tell(
        'wallet',
        plan.id,
        `gets ${call.operation} ${call.amount} [request ${request}]${how}`,
      );
      for (const fault of due('wallet', count)) faults.begin(fault);
    },
    booked: ({ call }, answer, isLate) => {
      const said = answer.ok ? 'accepts' : `refuses with ${answer.code}`;
      const when = isLate ? ' LATE' : '';
      story.tell('wallet', plan.id, `  ${said}${when} ${call.operation} ${call.amount}`);
    },
  });
  let mentions = 0;
  for (const [process, { postgres }] of deployment.processes.entries()) {
    postgres.watch(transactionId, (link) => {
      for (const fault of due('statement', mentions)) {
        story.tell(
          'fault',
          plan.id,
          `statement ${mentions} about ${plan.id} at process ${process}`,
        );
        faults.begin(fault, { process, link });
      }
      mentions += 1;
    });
  }
}

function unwatch(record: BetRecord, deployment: Deployment): void {
  for (const { postgres } of deployment.processes) postgres.unwatch(record.transactionId);
}

function fateOf(plan: BetPlan, call: WalletCall, nth: number): Fate | undefined {
  return plan.fates.find((fate) => fate.operation === call.operation && fate.nth === nth);
}
