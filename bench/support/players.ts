import { randomBytes } from 'node:crypto';
import { createOperator } from '../../tools/simulator/operator.ts';
import type { ServicePlayer } from '../../tools/simulator/service.ts';

/** How an operator identifies itself to the gateway. */
export interface OperatorAccess {
  readonly cid: string;
  readonly secret: string;
}

const CURRENCY = 'USD';

/** Opens live sessions for this many players of an operator. */
export async function openSessions(
  baseUrl: string,
  access: OperatorAccess,
  count: number,
): Promise<ServicePlayer[]> {
  const operator = createOperator({ baseUrl, ...access });
  try {
    return await Promise.all(
      Array.from({ length: count }, async (_, n) => {
        const request = { operatorUser: `player-${n}`, currency: CURRENCY };
        const operatorToken = randomBytes(12).toString('hex');
        const { session, body } = await operator.openSession({ ...request, operatorToken });
        if (session === undefined) throw new Error(`no session: ${body}`);
        return { userId: session.userId, token: session.token, currency: CURRENCY };
      }),
    );
  } finally {
    await operator.close();
  }
}
