import type { BetAnswer } from '../domain/wallet-answer.ts';
import { SecretMask, withCodings } from '../outbound/secret-mask.ts';
import { MESSAGE_LENGTH_MAX } from './adapters/adapter.ts';
import type { WalletSettings } from './wallet-config.ts';

/** How much of a wallet's answer is stored, in bytes; 0 for nothing (`evidence` in gateway.yaml). */
export interface EvidenceLimits {
  readonly acceptedBytes: number;
  readonly otherBytes: number;
}

/** One mask per settings object; a reload makes new objects. */
const masks = new WeakMap<WalletSettings, SecretMask>();

/** Hides the secrets of an operator's settings. */
export function settingsMask(settings: WalletSettings): SecretMask {
  const known = masks.get(settings);
  if (known !== undefined) return known;
  const mask = new SecretMask(settingsSecrets(settings).flatMap(withCodings));
  masks.set(settings, mask);
  return mask;
}

/** The secrets of an operator's settings; a key in a header also without its scheme. */
export function settingsSecrets({ secrets, dialect }: WalletSettings): readonly string[] {
  const headers = Object.values(dialect.headers ?? {});
  return [...secrets, ...headers, ...headers.flatMap(credentialsIn)];
}

/** `Bearer …`, `Basic …`: a wallet may quote the part after the scheme, or its decoded form. */
const SCHEME = /^(?:(?:bearer|token|api-?key)|(basic))[ =]+(.+)$/i;

function credentialsIn(header: string): readonly string[] {
  const [, basic, credentials] = SCHEME.exec(header) ?? [];
  if (credentials === undefined || basic === undefined) return credentials ? [credentials] : [];
  const pair = Buffer.from(credentials, 'base64').toString('utf8');
  return [credentials, pair, pair.slice(pair.indexOf(':') + 1)];
}

/** A bet or read that did not succeed. */
type Failed = Exclude<BetAnswer, { kind: 'accepted' }>;

/** The answer with secrets masked in the wallet's message, which is passed to the service and stored. */
export function withoutSecrets(answer: Failed, redaction: SecretMask): Failed {
  if (answer.kind === 'declined') {
    const isWhole = answer.message.length < MESSAGE_LENGTH_MAX;
    return { ...answer, message: redaction.text(answer.message, isWhole) };
  }
  const { error } = answer.trace;
  if (error === undefined) return answer;
  return { ...answer, trace: { ...answer.trace, error: redaction.text(error) } };
}
