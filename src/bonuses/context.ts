import type { Configuration, OperatorConfig } from '../config/schema/schema.ts';
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

/** The dependencies of the seven methods. */
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
  /** For all of the request's calls to the service together (`service.bonusTimeoutMs`). */
  readonly deadline: Deadline;
  /** Charges work to the operator's rate limits. @returns the 429 if it exceeds them */
  readonly charge: (work: Work, count: number) => BonusResult | undefined;
  /**
   * Runs work that reads a page of templates, a few calls per operator at a time: each page may be large.
   * @returns the 429 if the operator has received too many bytes
   */
  readonly inTurn: <T>(read: () => Promise<T>) => Promise<T | BonusResult>;
}

/** Calls the service with a call's account and deadline. */
export function askService(
  bonuses: Bonuses,
  call: BonusCall,
  method: BonusMethod,
  body: string,
): Promise<BonusApiAnswer> {
  return bonuses.service.ask(call.operator.id, call.account, method, body, call.deadline);
}

/** Whether the operator may read and issue a template. */
export async function seesTemplate(
  { ownership }: Bonuses,
  { operator, account, tenant }: BonusCall,
  templateId: string,
): Promise<boolean> {
  if (account.exclusive) return true;
  // Both are checked always, so that timing does not reveal whether an id is shared.
  const isOwn = await ownership.ownsTemplate(tenant, templateId);
  return isOwn || operator.bonuses.sharedTemplates.includes(Number(templateId));
}
