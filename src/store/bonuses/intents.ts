import { DatabaseError } from 'pg';
import type { Database } from '../database.ts';
import {
  BEGIN_APPLY,
  BEGIN_CREATE,
  COUNT_OPEN_INTENTS,
  FAIL_INTENT,
  FIND_EQUAL,
  FINISH_APPLY,
  FINISH_CREATE,
  type IntentKind,
  type KeptAnswer,
  type NewIntent,
  OPEN_GRANT,
  OTHER_CREATES,
} from './intent-statements.ts';
import { listsOf, type OwnedBonus } from './ownership.ts';
import type { Tenant } from './tenant.ts';

/** What became of an operator's request before the service is asked. */
export type BegunIntent =
  /** Written and committed: the service may now be asked, once. */
  | { readonly kind: 'begun'; readonly intentId: string }
  /** The same body was sent before, and this was the answer. */
  | { readonly kind: 'answered'; readonly answer: KeptAnswer }
  /** The same body was sent before, and its outcome is not known yet. */
  | { readonly kind: 'open' }
  /** Another batch of the operator is open for one of these players. */
  | { readonly kind: 'playersOpen' };

/**
 * Operators' requests, written before the service is asked, so that a crash can neither orphan what was created
 * nor show it to another operator (I3, I8). Every method throws GatewayError `DATABASE_UNAVAILABLE`.
 */
export class BonusIntents {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @param aboveId the highest template id so far; the new template has a higher one */
  async beginCreate(intent: NewIntent, aboveId: string): Promise<BegunIntent> {
    const [intentId] = await this.#database.run(BEGIN_CREATE, {
      ...intent,
      ...intent.tenant,
      aboveId,
    });
    if (intentId !== undefined) return { kind: 'begun', intentId };
    return (await this.findEqual(intent, 'create')) ?? { kind: 'open' };
  }

  /** @param userIds the aggregator's ids of the players, each once */
  async beginApply(
    intent: NewIntent,
    templateId: string,
    userIds: readonly string[],
  ): Promise<BegunIntent> {
    try {
      const batch = { ...intent, ...intent.tenant, templateId, userIds };
      const [intentId] = await this.#database.run(BEGIN_APPLY, batch);
      if (intentId !== undefined) return { kind: 'begun', intentId };
    } catch (error) {
      if (!isOpenGrant(error)) throw error;
      return { kind: 'playersOpen' };
    }
    return (await this.findEqual(intent, 'apply')) ?? { kind: 'open' };
  }

  /** The outcome of an equal body of the same operator, unless it certainly failed. */
  async findEqual(
    { tenant, bodyHash }: Pick<NewIntent, 'tenant' | 'bodyHash'>,
    kind: IntentKind,
  ): Promise<Extract<BegunIntent, { kind: 'answered' | 'open' }> | undefined> {
    const [equal] = await this.#database.run(FIND_EQUAL, { ...tenant, bodyHash, kind });
    if (equal === undefined) return undefined;
    return equal.answer === undefined
      ? { kind: 'open' }
      : { kind: 'answered', answer: equal.answer };
  }

  /** What else was asked for, of whichever operator, that a template of this id may have been made for. */
  async otherCreates(
    upstreamCid: string,
    intentId: string,
    templateId: string,
  ): Promise<readonly string[]> {
    return await this.#database.run(OTHER_CREATES, { upstreamCid, intentId, templateId });
  }

  /** The template is the operator's from now on, its answer is kept; false if it is already another's. */
  async finishCreate(
    tenant: Tenant,
    intentId: string,
    template: { readonly templateId: string; readonly item: string },
    answer: KeptAnswer,
  ): Promise<boolean> {
    const input = { ...tenant, ...template, intentId, ...keptOf(answer) };
    const [own] = await this.#database.run(FINISH_CREATE, input);
    return own === true;
  }

  /** The service has answered a batch: the bonuses that it issued are the operator's. */
  async finishApply(
    tenant: Tenant,
    intentId: string,
    issued: readonly OwnedBonus[],
    answer: KeptAnswer,
  ): Promise<void> {
    const applied = { ...tenant, ...listsOf(issued), intentId, ...keptOf(answer) };
    await this.#database.run(FINISH_APPLY, applied);
  }

  /** Certainly nothing was created: the same body may be sent again. */
  async fail(intentId: string, reason: string): Promise<void> {
    await this.#database.run(FAIL_INTENT, { intentId, reason });
  }

  /** Open intents by operator and kind, those of calls under way included. */
  async countOpen(): Promise<
    readonly { readonly operator: string; readonly kind: string; readonly count: number }[]
  > {
    return await this.#database.run(COUNT_OPEN_INTENTS, {});
  }
}

const keptOf = ({ status, body }: KeptAnswer) => ({ answerStatus: status, answerBody: body });

function isOpenGrant(error: unknown): boolean {
  return (
    error instanceof DatabaseError && error.code === '23505' && error.constraint === OPEN_GRANT
  );
}
