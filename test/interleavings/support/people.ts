import { GatewayError } from '../../../src/domain/errors.ts';
import { resolveResult } from '../../../src/operations/resolve-result.ts';
import { UnknownResults } from '../../../src/store/bets/unknown-results.ts';
import type { Database } from '../../../src/store/database.ts';
import {
  DeliveryAdmin,
  type ResolveResult,
  type RetryResult,
} from '../../../src/store/deliveries/delivery-admin.ts';
import type { Prisma } from '../../../src/store/schema/prisma.ts';
import { BY } from '../../support/audit.ts';
import { Gates } from './gates.ts';

/** What people do through the internal listener. */
export interface People {
  readonly deliveries: DeliveryAdmin;
  /** The same for a release, of which every statement writes. */
  readonly releases: DeliveryAdmin;
  /** @param amount what a wallet holds as the bet's result; undefined: its stake only */
  say(transactionId: string, amount: string | undefined): Promise<string>;
}

type AnyCall = (...values: readonly unknown[]) => Promise<unknown>;

/** Each statement is a step of its person, whose connection may be lost, or the process be killed. */
function stepOf(label: string, call: AnyCall, isWrite: boolean): AnyCall {
  const step = {
    kind: isWrite ? 'write' : 'read',
    label,
    faults: isWrite ? ['lostAnswer', 'kill'] : [],
  } as const;
  return (...values) =>
    Gates.pass(step, async (choice) => {
      const found = await call(...values);
      if (choice !== 'lostAnswer') return found;
      throw new GatewayError('DATABASE_UNAVAILABLE', 'the answer was lost');
    });
}

function gated<T extends object>(
  object: T,
  names: readonly string[],
  writes: readonly string[] = ['$executeRaw'],
): T {
  return new Proxy(object, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (name === 'delivery' && typeof value === 'object' && value !== null) {
        return gated(value, ['findFirst', 'findMany']);
      }
      if (typeof value !== 'function' || typeof name !== 'string') return value;
      const call: AnyCall = async (...values) => await Reflect.apply(value, target, values);
      return names.includes(name) ? stepOf(name, call, writes.includes(name)) : value;
    },
  });
}

/** @param database whose statements are steps */
export function peopleAt(prisma: Prisma, database: Database): People {
  const options = { isHeld: () => false, horizonHours: () => 72 };
  const steps = gated(prisma, ['$executeRaw', '$queryRaw']);
  const writes = ['$executeRaw', '$queryRaw'];
  const releasing = gated(prisma, writes, writes);
  const results = new UnknownResults(database);
  return {
    deliveries: new DeliveryAdmin({ ...options, prisma: steps }),
    releases: new DeliveryAdmin({ ...options, prisma: releasing }),
    say: async (transactionId, amount) => {
      const found =
        amount === undefined
          ? ({ kind: 'stake' } as const)
          : ({ kind: 'result', amount, resultType: 'won' } as const);
      const word = { who: 'ann', why: 'asked their support', by: BY, found };
      const said = await resolveResult(results, transactionId, word, () => 60_000);
      return said.kind === 'refused' ? `refused: ${said.why}` : said.kind;
    },
  };
}

export function wordOf(answer: RetryResult | ResolveResult): string {
  return 'state' in answer ? `${answer.kind}: ${answer.state}` : answer.kind;
}
