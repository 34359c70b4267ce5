import type { RecordedCall } from '../calls/recorded-call.ts';
import type { Trial } from '../trial/trial.ts';

/**
 * Some wallets require the token on every call (service protocol, How real wallets deviate): repeats a call
 * that was refused without one, and notes the dialect item if that is accepted.
 *
 * @param what for people, with its article
 * @param again the same call with the player's token
 */
export async function tryWithToken(
  trial: Trial,
  what: 'a settle' | 'an unsettle',
  again: () => Promise<RecordedCall>,
): Promise<void> {
  const recorded = await again();
  if (recorded.answer.kind !== 'accepted') return;
  trial.fail('the same with a token was accepted; from here on a token is sent');
  const why = `${what} without a token was refused, with one it was accepted`;
  trial.tried({ dialect: { alwaysSendToken: true }, why });
}
