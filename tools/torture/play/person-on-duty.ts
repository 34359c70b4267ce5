import { setTimeout as sleep } from 'node:timers/promises';
import { heldOf } from '../check/held.ts';
import { ADMIN_TOKEN, type Deployment } from '../deployment/deployment.ts';
import { moneyOf, moneyText } from '../money.ts';
import { CHARACTERS, type OperatorId } from '../plan/plan.ts';
import type { BetRecord } from '../service/record.ts';
import type { Story } from '../story.ts';

const LOOK_MS = 150;
const PATIENCE_MS = 2_000;

/**
 * Decides on the dead letters of a wallet that executes repeats again, as docs/runbooks say: checks in the wallet's
 * books whether it has executed the result, and retries it if not; or says what the wallet holds. Of other wallets, resolves the dead letters of
 * bets that the plan marks and whose wallet agrees with the service.
 */
export class PersonOnDuty {
  readonly #deployment: Deployment;
  readonly #story: Story;
  readonly #records: ReadonlyMap<string, BetRecord>;
  readonly #operators: ReadonlySet<OperatorId>;
  #isOver = false;
  readonly #working: Promise<void>;

  constructor(deployment: Deployment, story: Story, records: readonly BetRecord[]) {
    this.#deployment = deployment;
    this.#story = story;
    this.#records = new Map(records.map((record) => [record.transactionId, record]));
    this.#operators = new Set(records.map(({ plan }) => plan.operator));
    this.#working = this.#work();
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    while (!this.#isOver) {
      for (const operator of this.#operators) await this.#look(operator).catch(() => undefined);
      await sleep(LOOK_MS);
    }
  }

  async #look(operator: OperatorId): Promise<void> {
    const text = await this.#ask('GET', `/admin/deliveries?operator=${operator}&state=dead`);
    const page: { readonly items: readonly Readonly<Record<string, unknown>>[] } = JSON.parse(text);
    for (const { id, transactionId } of page.items) {
      const record = this.#records.get(String(transactionId));
      if (record === undefined) continue;
      if (CHARACTERS[operator].isSpendthrift) await this.#decide(String(id), record);
      else if (record.plan.isSeenTo === true) await this.#seeTo(String(id), record);
    }
  }

  /** Dead letters of other bets are left to the automatic retry. */
  async #seeTo(id: string, record: BetRecord): Promise<void> {
    const { plan, transactionId, standing, paid } = record;
    const booked = this.#deployment.wallet(plan.operator).ledger.bets.get(transactionId);
    const isHeld = standing === 'accepted' && heldOf(booked).paid === moneyOf(paid);
    if (isHeld) await this.#resolve(id, record);
  }

  async #decide(id: string, record: BetRecord): Promise<void> {
    const { plan, transactionId } = record;
    const requestId = await this.#requestOf(id, transactionId);
    // The last one with that requestId: an earlier copy of it may be what the wallet did not take.
    const arrived = this.#deployment
      .wallet(plan.operator)
      .arrivals(transactionId)
      .findLast(({ call }) => call.requestId === requestId);
    const isTaken = arrived?.doneAtMs !== undefined;
    const path = `/admin/deliveries/${id}`;
    // Half of the bets go this way, where the gateway lets them: what was promised has to be delivered or resolved.
    const mayBeSaid = Number(plan.id.slice(1)) % 2 === 0;
    if (mayBeSaid && (await this.#sayWhatIsHeld(record)) !== 'refused') return;
    if (!isTaken) {
      const told = await this.#ask('POST', `${path}/retry`, {}).catch(String);
      this.#story.tell('fault', plan.id, `a person has ${id} sent once more: ${told.slice(0, 90)}`);
      // Code 8: a later operation has replaced it, so it can only be resolved.
      if (!told.includes('"code":8')) return;
    }
    await this.#resolve(id, record);
  }

  /**
   * Ends the doubt about a result: whatever the wallet does not hold yet, the service sends once more.
   * @returns `refused` if the result is not unknown, or was promised; `early` while a lost call may still land: then they look again
   */
  async #sayWhatIsHeld(record: BetRecord): Promise<'said' | 'early' | 'refused'> {
    const { plan, transactionId } = record;
    const booked = this.#deployment.wallet(plan.operator).ledger.bets.get(transactionId);
    const amount = moneyText(heldOf(booked).paid);
    const held =
      booked?.state === 'settled'
        ? { holds: 'result', amount, resultType: booked.result }
        : { holds: 'stake' };
    const said = { ...held, by: 'duty', reason: 'looked up' };
    record.isLookedUp = true;
    const told = await this.#ask('POST', `/admin/bets/${transactionId}/resolve`, said).catch(
      String,
    );
    if (told.includes('may still take effect')) return 'early';
    const words = `a person says ${JSON.stringify(held)}: ${told.slice(0, 90)}`;
    this.#story.tell('fault', plan.id, words);
    return told.startsWith('{') ? 'said' : 'refused';
  }

  /** The `requestId` of what a dead letter would bring, as the bet's story shows it. */
  async #requestOf(id: string, transactionId: string): Promise<string | undefined> {
    const text = await this.#ask('GET', `/admin/bets/${transactionId}`);
    const story: {
      readonly operations: readonly {
        readonly requestId: string | null;
        readonly delivery: { readonly id: string } | null;
      }[];
    } = JSON.parse(text);
    return story.operations.find(({ delivery }) => delivery?.id === id)?.requestId ?? undefined;
  }

  async #resolve(id: string, record: BetRecord): Promise<void> {
    const said = { by: 'duty', reason: 'looked up' };
    const told = await this.#ask('POST', `/admin/deliveries/${id}/resolve`, said);
    record.isLookedUp = true;
    this.#story.tell('fault', record.plan.id, `a person resolves ${id}: ${told.slice(0, 90)}`);
  }

  /** @throws Error for anything but 200 */
  async #ask(method: 'GET' | 'POST', path: string, body?: object): Promise<string> {
    const [first] = this.#deployment.processes;
    const response = await fetch(`${first?.gateway.adminUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status} ${text}`);
    return text;
  }
}
