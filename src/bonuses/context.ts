import type { Configuration, OperatorConfig } from '../config/schema.ts';
import type { Clock } from '../domain/clock.ts';
import type { Deadline } from '../domain/deadline.ts';
import type { Work } from '../operators/limits.ts';
import type { JsonDocument } from '../protocol/json.ts';
import type { BonusIntents } from '../store/bonuses/intents.ts';
import type { BonusOwnership } from '../store/bonuses/ownership.ts';
import type { BonusPlayers } from '../store/bonuses/players.ts';
import type { Tenant } from '../store/bonuses/tenant.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { BonusMethod } from './method-names.ts';
import type { BonusResult } from './outcome.ts';
import type { Account, Accounts } from './service/account.ts';
import type { BonusApiAnswer } from './service/answer.ts';
import type { BonusService } from './service/client.ts';

/** What the seven stories work with. */
export interface Bonuses {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly configuration: () => Configuration;
  readonly accounts: Accounts;
  readonly service: BonusService;
  readonly ownership: BonusOwnership;
  readonly intents: BonusIntents;
  readonly players: BonusPlayers;
}

/** One admitted request of an operator. */
export interface BonusCall {
  readonly operator: OperatorConfig;
  readonly account: Account;
  readonly tenant: Tenant;
  readonly document: JsonDocument;
  /** Over all the calls of the service that it takes (`service.bonusTimeoutMs`). */
  readonly deadline: Deadline;
  /** Takes so much work off what the operator may have done now; the 429 where it is too much. */
  readonly charge: (work: Work, count: number) => BonusResult | undefined;
  /**
   * Does what reads a page of templates, of one operator's calls a few at a time: others' templates stand there too, and
   * each may be large.
   * @returns the 429 where the operator has been told too much
   */
  readonly inTurn: <T>(read: () => Promise<T>) => Promise<T | BonusResult>;
}

/** Asks the service in a call's name and on its time. */
export function askService(
  bonuses: Bonuses,
  call: BonusCall,
  method: BonusMethod,
  body: string,
): Promise<BonusApiAnswer> {
  return bonuses.service.ask(call.operator.id, call.account, method, body, call.deadline);
}

/**
 * Whether the operator may read and issue a template (docs/contract.md, Operators and the bonus
 * API).
 */
export async function seesTemplate(
  { ownership }: Bonuses,
  { operator, account, tenant }: BonusCall,
  templateId: string,
): Promise<boolean> {
  if (account.exclusive) return true;
  // Both are looked at, so that no time tells a shared id from another one.
  const isOwn = await ownership.ownsTemplate(tenant, templateId);
  return isOwn || operator.bonuses.sharedTemplates.includes(Number(templateId));
}
