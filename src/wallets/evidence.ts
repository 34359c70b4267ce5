import type { BetAnswer } from '../domain/wallet-answer.ts';
import type { SecretMask } from '../outbound/secret-mask.ts';
import { MESSAGE_LENGTH_MAX } from './adapters/adapter.ts';
import type { WalletSettings } from './wallet-config.ts';

/** How much of a wallet's answer is kept, in bytes; 0 keeps none (`evidence` in gateway.yaml). */
export interface EvidenceLimits {
  readonly acceptedBytes: number;
  readonly otherBytes: number;
}

/** What lets somebody in of an operator's settings. */
export function standingSecrets({ secrets, dialect }: WalletSettings): readonly string[] {
  return [...secrets, ...Object.values(dialect.headers ?? {})];
}

/** A bet or read that did not succeed. */
type Failed = Exclude<BetAnswer, { kind: 'accepted' }>;

/** The wallet's words without what lets somebody in: they are told to the service and kept. */
export function withoutSecrets(answer: Failed, redaction: SecretMask): Failed {
  if (answer.kind === 'declined') {
    const isWhole = answer.message.length < MESSAGE_LENGTH_MAX;
    return { ...answer, message: redaction.text(answer.message, isWhole) };
  }
  const { error } = answer.trace;
  if (error === undefined) return answer;
  return { ...answer, trace: { ...answer.trace, error: redaction.text(error) } };
}
