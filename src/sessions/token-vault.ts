import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash as digest,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** First byte of a sealed token: how the rest is to be read. */
const PLAIN = 0;
/** Bound to nothing, and without the id of its key: sealed before keys could be rotated. */
const UNBOUND = 1;
const BOUND = 2;
/** Neither a token that is made here nor an operator's id, a prefix, begins with it. */
const REFERENCE = '#';

/** One key of `ENCRYPTION_KEY`, as the configuration reads it. */
export interface VaultKey {
  readonly id: string;
  /** 32 bytes. */
  readonly bytes: Buffer;
  /** What is stored with all that the key has sealed: 8 bytes. */
  readonly mark: Buffer;
}

export interface VaultKeys {
  /** The first seals and derives, all open. */
  readonly keys: readonly [VaultKey, ...VaultKey[]];
  /** Whether what was stored before there was a key is still taken. */
  readonly acceptsPlain: boolean;
}

export interface TokenIdentity {
  readonly operatorId: string;
  readonly playerId: string;
  readonly currency: string;
  readonly operatorToken: string;
  /** Counts the sessions of the above, so that a session that ended is never given again. */
  readonly ordinal: number;
}

/** What a sealed text belongs to: it opens beside nothing else. */
export type Binding = readonly [purpose: string, ...parts: string[]];

/** What opening a sealed text has brought. */
export type Opened =
  | { readonly kind: 'opened'; readonly text: string }
  | { readonly kind: 'unopenable'; readonly why: string };

interface KeySet {
  readonly mark: Buffer;
  readonly deriving: KeyObject;
  readonly sealing: KeyObject;
  readonly unboundSealing: KeyObject;
}

/**
 * How tokens are made, recognised and kept (docs/contract.md, Operator API). With keys, an issued
 * token is derived and needs no storing, and operator tokens are sealed. Without, tokens are random
 * and operator tokens are kept as they are: a start-up warning says so.
 */
export class TokenVault {
  readonly #keys: readonly KeySet[];
  readonly #acceptsPlain: boolean;

  constructor(keys: VaultKeys | undefined) {
    this.#keys = keys?.keys.map(keySet) ?? [];
    this.#acceptsPlain = keys?.acceptsPlain ?? true;
  }

  get hasKey(): boolean {
    return this.#keys.length > 0;
  }

  /** What all begins with that `seal` makes now; undefined without a key. */
  get sealMark(): Buffer | undefined {
    const [first] = this.#keys;
    return first && Buffer.concat([Buffer.of(BOUND), first.mark]);
  }

  /** Where, in the order of what stands first in a sealed text, lies what cannot be opened; ends not included. */
  unopenableRanges(): readonly { readonly low: Buffer; readonly high: Buffer }[] {
    const plain = { low: Buffer.of(PLAIN), high: Buffer.of(UNBOUND) };
    const unbound = { low: Buffer.of(UNBOUND), high: Buffer.of(BOUND) };
    const marks = this.#keys.map(({ mark }) => Buffer.concat([Buffer.of(BOUND), mark]));
    marks.sort(Buffer.compare);
    const bound = [Buffer.of(BOUND), ...marks].map((low, at) => ({
      low,
      high: marks[at] ?? Buffer.of(BOUND + 1),
    }));
    return [...(this.#acceptsPlain ? [] : [plain]), ...(this.hasKey ? [] : [unbound]), ...bound];
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
    const [first] = this.#keys;
    return first === undefined ? randomBytes(32).toString('base64url') : derive(first, identity);
  }

  /**
   * The token that was made for this identity under any of the keys.
   * @param tokenHash what it was stored by
   * @returns undefined where it was made otherwise, or its key is gone
   */
  remake(identity: TokenIdentity, tokenHash: Buffer): string | undefined {
    return this.#keys
      .map((key) => derive(key, identity))
      .find((token) => isSame(this.hash(token), tokenHash));
  }

  /** Whether the first key makes the token of this hash: it needs none of the others. */
  isMadeNow(identity: TokenIdentity, tokenHash: Buffer): boolean {
    return this.hasKey && isSame(this.hash(this.make(identity)), tokenHash);
  }

  seal(text: string, binding: Binding): Buffer {
    const [first] = this.#keys;
    if (first === undefined) return Buffer.concat([Buffer.of(PLAIN), Buffer.from(text)]);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', first.sealing, nonce);
    cipher.setAAD(associatedData(binding));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.of(BOUND), first.mark, nonce, cipher.getAuthTag(), sealed]);
  }

  /** Never throws: a lost key, a changed byte and a text of another session are `unopenable`. */
  open(sealed: Buffer, binding: Binding): Opened {
    switch (sealed[0]) {
      case PLAIN:
        return this.#acceptsPlain
          ? { kind: 'opened', text: sealed.toString('utf8', 1) }
          : unopenable('it is not sealed, and ENCRYPTION_KEY does not say plain');
      case BOUND: {
        const key = this.#keys.find(({ mark }) => mark.equals(sealed.subarray(1, 1 + mark.length)));
        if (key === undefined) return this.#noKey();
        const text = decrypt(key.sealing, sealed.subarray(1 + key.mark.length), binding);
        return text === undefined
          ? unopenable('it was changed, or belongs to another session')
          : { kind: 'opened', text };
      }
      case UNBOUND: {
        for (const { unboundSealing } of this.#keys) {
          const text = decrypt(unboundSealing, sealed.subarray(1), undefined);
          if (text !== undefined) return { kind: 'opened', text };
        }
        return this.#noKey();
      }
      default:
        return unopenable('its form is not known here');
    }
  }

  #noKey(): Opened {
    return unopenable(
      this.hasKey
        ? 'ENCRYPTION_KEY does not hold the key that sealed it'
        : 'it is sealed, but ENCRYPTION_KEY is not set',
    );
  }
}

function unopenable(why: string): Opened {
  return { kind: 'unopenable', why };
}

function keySet({ bytes, mark }: VaultKey): KeySet {
  return {
    mark,
    deriving: subKey(bytes, 'wagergate session tokens'),
    sealing: subKey(bytes, 'wagergate sealed and bound'),
    unboundSealing: subKey(bytes, 'wagergate operator tokens'),
  };
}

/** Prepared once: handed over as bytes, a key costs more with each use than the use itself. */
function subKey(key: Buffer, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), purpose, 32)));
}

function derive({ deriving }: KeySet, identity: TokenIdentity): string {
  const parts = [
    identity.operatorId,
    identity.playerId,
    identity.currency,
    identity.operatorToken,
    String(identity.ordinal),
  ];
  return createHmac('sha256', deriving).update(JSON.stringify(parts)).digest('base64url');
}

/** @param sealed nonce, tag, ciphertext */
function decrypt(key: KeyObject, sealed: Buffer, binding: Binding | undefined): string | undefined {
  const tagEnd = NONCE_BYTES + TAG_BYTES;
  if (sealed.length < tagEnd) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  if (binding !== undefined) decipher.setAAD(associatedData(binding));
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, tagEnd));
  const text = decipher.update(sealed.subarray(tagEnd), undefined, 'utf8');
  try {
    return text + decipher.final('utf8');
  } catch {
    // Node says only that it does not fit, not why.
    return undefined;
  }
}

function associatedData(binding: Binding): Buffer {
  return Buffer.from(JSON.stringify(binding));
}

function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
