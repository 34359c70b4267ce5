import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash as digest,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** First byte of a sealed token: how the rest is to be read. */
const PLAIN = 0;
const AES_256_GCM = 1;
/** Neither a token that is made here nor an operator's id, a prefix, begins with it. */
const REFERENCE = '#';

export interface TokenIdentity {
  readonly operatorId: string;
  readonly playerId: string;
  readonly currency: string;
  readonly operatorToken: string;
  /** Counts the sessions of the above, so that a session that ended is never given again. */
  readonly ordinal: number;
}

/**
 * How tokens are made, recognised and kept (docs/contract.md, Operator API). With a key, an issued
 * token is derived and needs no storing, and operator tokens are sealed. Without one, tokens are
 * random and operator tokens are kept as they are: a start-up warning says so.
 */
export class TokenVault {
  readonly #derivingKey: KeyObject | undefined;
  readonly #sealingKey: KeyObject | undefined;

  /** @param key 32 bytes (`ENCRYPTION_KEY`), or undefined */
  constructor(key: Buffer | undefined) {
    if (key === undefined) return;
    this.#derivingKey = subKey(key, 'wagergate session tokens');
    this.#sealingKey = subKey(key, 'wagergate operator tokens');
  }

  get hasKey(): boolean {
    return this.#sealingKey !== undefined;
  }

  /** What a token is stored and found by: 32 bytes. */
  hash(token: string): Buffer {
    return digest('sha256', token, 'buffer');
  }

  /** What stands for a token in a message that is kept: its hash, in a form that no token has. */
  reference(token: string): string {
    return REFERENCE + this.hash(token).toString('base64url');
  }

  /** @returns the hash that a reference holds; undefined for a token */
  hashOfReference(text: string): Buffer | undefined {
    if (!text.startsWith(REFERENCE)) return undefined;
    return Buffer.from(text.slice(REFERENCE.length), 'base64url');
  }

  /** A token of 43 characters that cannot be guessed; the same again for the same identity, with a key. */
  make(identity: TokenIdentity): string {
    if (this.#derivingKey === undefined) return randomBytes(32).toString('base64url');
    const parts = [
      identity.operatorId,
      identity.playerId,
      identity.currency,
      identity.operatorToken,
      String(identity.ordinal),
    ];
    return createHmac('sha256', this.#derivingKey)
      .update(JSON.stringify(parts))
      .digest('base64url');
  }

  seal(operatorToken: string): Buffer {
    if (this.#sealingKey === undefined) {
      return Buffer.concat([Buffer.of(PLAIN), Buffer.from(operatorToken)]);
    }
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#sealingKey, nonce);
    const sealed = Buffer.concat([cipher.update(operatorToken, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.of(AES_256_GCM), nonce, cipher.getAuthTag(), sealed]);
  }

  /** @throws Error when it was sealed with another key or tampered with */
  unseal(sealed: Buffer): string {
    if (sealed[0] === PLAIN) return sealed.toString('utf8', 1);
    if (this.#sealingKey === undefined) {
      throw new Error('an operator token is sealed, but ENCRYPTION_KEY is not set');
    }
    const nonceEnd = 1 + NONCE_BYTES;
    const tagEnd = nonceEnd + TAG_BYTES;
    const decipher = createDecipheriv(
      'aes-256-gcm',
      this.#sealingKey,
      sealed.subarray(1, nonceEnd),
      { authTagLength: TAG_BYTES },
    );
    decipher.setAuthTag(sealed.subarray(nonceEnd, tagEnd));
    return decipher.update(sealed.subarray(tagEnd), undefined, 'utf8') + decipher.final('utf8');
  }
}

/** Prepared once: handed over as bytes, a key costs more with each use than the use itself. */
function subKey(key: Buffer, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), purpose, 32)));
}
