import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Configuration, OperatorConfig } from '../../config/schema/schema.ts';
import type { ReloadResult } from '../../config/source.ts';
import { isReleasedPast } from '../../domain/generation.ts';
import { CALL_CLASSES, type CallClass } from '../../domain/operation.ts';
import type { Readiness } from '../../http/health.ts';
import { within } from '../../lib/within.ts';
import type { BreakerOverride } from '../../outbound/breaker.ts';
import type { Answer } from '../../protocol/answers.ts';
import type { Authority } from '../../store/audit/audited.ts';
import type { BacklogCounts } from '../../store/deliveries/backlog.ts';
import type { DeliveryHolds } from '../../store/deliveries/holds.ts';
import type { Release } from '../../store/deliveries/release.ts';
import type { LastHour } from '../../telemetry/last-hour.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { conflict, json, notFoundAnswer, serve } from '../answers.ts';
import type { AdminApi } from '../api.ts';
import {
  checkedBody,
  checkedOptionalBody,
  checkedPath,
  invalidField,
  looseReasonBody,
  reasonBody,
  reasonField,
  wordAmong,
} from '../input.ts';
import { countsWithoutFile, operatorCounts } from './operator-counts.ts';
import { byClass, type StateOf } from './wallet-states.ts';

/** During an outage people need to see the breakers, with or without PostgreSQL's counts. */
const COUNTS_WITHIN_MS = 2_000;

export interface OperatorAdmin {
  readonly logger: Logger;
  readonly configuration: () => Configuration;
  /** The wallets' present states, over every process behind this port. */
  readonly walletStates: () => Promise<StateOf>;
  readonly backlog: Pick<BacklogCounts, 'look'>;
  /** Whether an operator takes no deliveries now because of its state: maintenance, an open breaker. */
  readonly isHeld: (operatorId: string) => boolean;
  /** A person's override of a breaker. */
  readonly overrideOf: (operatorId: string, callClass: CallClass) => BreakerOverride;
  /** Reaches every process. @throws GatewayError `DATABASE_UNAVAILABLE` */
  readonly setBreaker: (
    operatorId: string,
    callClass: CallClass,
    to: BreakerOverride,
    by: Authority,
  ) => Promise<void>;
  /** Releases bets of generations up to this one to the operator's present wallet. @throws GatewayError */
  readonly releaseGeneration: (operatorId: string, which: Release, by: Authority) => Promise<void>;
  readonly reload: (by: Authority) => Promise<ReloadResult>;
  readonly holds: Pick<DeliveryHolds, 'all' | 'releases' | 'hold' | 'resume'>;
  readonly lastHour: Pick<LastHour, 'recently'>;
  readonly health: Pick<Readiness, 'report'>;
}

export const operatorPath = z.object({ id: z.string() });

const breakerBody = z.strictObject({
  class: wordAmong(CALL_CLASSES),
  state: wordAmong(['closed', 'open', 'auto']),
  reason: reasonField,
});

const releaseBody = z.strictObject({
  generation: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(2_147_483_647, 'must be at most 2147483647'),
  reason: reasonField,
});

export function operatorAdminRoutes(app: FastifyInstance, admin: OperatorAdmin): void {
  serve(app, 'GET', '/operators', 'read', async () =>
    json((await operatorOverview(admin)) satisfies AdminApi['GET /admin/operators']),
  );

  serve(app, 'POST', '/operators/:id/breaker', 'administer', async (request, caller) => {
    const found = findOperator(admin, checkedPath(operatorPath, request));
    if (!('operator' in found)) return found;
    const input = checkedBody(breakerBody, request);
    if (!('fields' in input)) return input;
    const { class: callClass, state, reason } = input.fields;
    await admin.setBreaker(found.operator.id, callClass, state, { caller, reason });
    return json({ operator: found.operator.id, class: callClass, state });
  });

  serve(app, 'POST', '/operators/:id/release', 'administer', async (request, caller) => {
    const found = findOperator(admin, checkedPath(operatorPath, request));
    if (!('operator' in found)) return found;
    const input = checkedBody(releaseBody, request);
    if (!('fields' in input)) return input;
    const { generation, reason } = input.fields;
    const present = found.operator.wallet.generation;
    // It would be answered as done, but nothing would be released.
    if (generation < present) {
      return invalidField(
        'generation',
        `must be at least ${present}, the present wallet.generation`,
      );
    }
    const which = { upTo: generation, to: present };
    await admin.releaseGeneration(found.operator.id, which, { caller, reason });
    return json({ operator: found.operator.id, generation });
  });

  serve(app, 'POST', '/reload', 'administer', async (request, caller) => {
    const input = checkedOptionalBody(looseReasonBody, request);
    if (!('fields' in input)) return input;
    return json(await admin.reload({ caller, reason: input.fields.reason }));
  });

  holdRoutes(app, admin);
}

/** Holds an operator's deliveries until a person resumes them. */
function holdRoutes(app: FastifyInstance, admin: OperatorAdmin): void {
  const holdRoute = (
    verb: 'hold' | 'resume',
    change: (operatorId: string, by: Authority) => Promise<boolean>,
    why: string,
  ) => {
    serve(app, 'POST', `/operators/:id/deliveries/${verb}`, 'operate', async (request, caller) => {
      const found = findOperator(admin, checkedPath(operatorPath, request));
      if (!('operator' in found)) return found;
      const input = checkedOptionalBody(reasonBody, request);
      if (!('fields' in input)) return input;
      const operator = found.operator.id;
      if (!(await change(operator, { caller, reason: input.fields.reason }))) return conflict(why);
      const hold = (await admin.holds.all()).get(operator) ?? null;
      return json({
        operator,
        hold,
      } satisfies AdminApi[`POST /admin/operators/:id/deliveries/hold`]);
    });
  };
  holdRoute('hold', (id, by) => admin.holds.hold(id, by), 'Its deliveries are already held');
  holdRoute('resume', (id, by) => admin.holds.resume(id, by), 'Nobody holds its deliveries');
}

function findOperator(
  admin: OperatorAdmin,
  path: ReturnType<typeof checkedPath<typeof operatorPath>>,
): { readonly operator: OperatorConfig } | Answer {
  if (!('fields' in path)) return path;
  const operator = admin.configuration().operators.get(path.fields.id);
  return operator === undefined ? notFoundAnswer('No such operator') : { operator };
}

/** The present state of every operator, without secrets. */
export async function operatorOverview(admin: OperatorAdmin) {
  const [known, stateOf, recently, { dependencies }] = await Promise.all([
    knownOrNothing(admin),
    admin.walletStates(),
    admin.lastHour.recently(),
    admin.health.report(),
  ]);
  const { counts, holds, releases } = known ?? {};
  const countsOf = operatorCounts(counts, (id) => holds?.has(id) === true || admin.isHeld(id));
  const { operators } = admin.configuration();
  const items = [...operators.values()].map((operator) => {
    const { id, name, status, currencies, sessions, wallet } = operator;
    const released = releases?.get(id);
    // Then no place of it is sent (docs/operations.md, An operator restores its wallet).
    const isPast =
      released !== undefined && isReleasedPast(wallet.generation, wallet.generation, released);
    return {
      id,
      name,
      status,
      currencies,
      sessions: { mode: sessions.mode },
      ...stateOf(id),
      hold: holds?.get(id) ?? null,
      releasedTo: isPast ? released.releasedTo : null,
      override: byClass((callClass) => admin.overrideOf(id, callClass)),
      ...countsOf(id),
      recently: recently?.get(id) ?? null,
    };
  });
  const withoutFile = countsWithoutFile(counts, (id) => operators.has(id));
  return { items, withoutFile, dependencies };
}

/** Counts, holds and releases from PostgreSQL; undefined if it does not answer within `COUNTS_WITHIN_MS`. */
async function knownOrNothing({ backlog, holds, logger }: OperatorAdmin) {
  try {
    const known = Promise.all([backlog.look(), holds.all(), holds.releases()]);
    const [counts, held, releases] = await within(COUNTS_WITHIN_MS, known);
    return { counts, holds: held, releases };
  } catch (error) {
    logger.warn({ err: error }, 'admin.deliveries_not_counted');
    return undefined;
  }
}
