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
/** First byte of a sealed token, which says how to read the rest. */
const PLAIN = 0;
const BOUND = 2;
/** Neither a token made here nor an operator id (a token's prefix) begins with it. */
const REFERENCE = '#';

/** One key of `ENCRYPTION_KEY`, as the configuration reads it. */
export interface VaultKey {
  readonly id: string;
  /** 32 bytes. */
  readonly bytes: Buffer;
  /** 8 bytes, stored with everything the key has sealed. */
  readonly mark: Buffer;
}

export interface VaultKeys {
  /** The first key seals and derives; all of them open. */
  readonly keys: readonly [VaultKey, ...VaultKey[]];
  /** Whether texts stored before there was a key are still accepted. */
  readonly acceptsPlain: boolean;
}

export interface TokenIdentity {
  readonly operatorId: string;
  readonly playerId: string;
  readonly currency: string;
  readonly operatorToken: string;
  /** Counts the sessions with the members above, so that the token of an ended session is never made again. */
  readonly ordinal: number;
}

/** The associated data of a sealed text, without which it cannot be opened. */
export type Binding = readonly [purpose: string, ...parts: string[]];

/** The result of opening a sealed text. */
export type Opened =
  | { readonly kind: 'opened'; readonly text: string }
  | { readonly kind: 'unopenable'; readonly why: string };

interface KeySet {
  readonly mark: Buffer;
  readonly deriving: KeyObject;
  readonly sealing: KeyObject;
}

/**
 * Makes, hashes and seals tokens. With keys, issued tokens are derived and operator tokens sealed; without,
 * they are random and stored, about which a start warns.
 */
export class TokenVault {
  readonly #keys: readonly KeySet[];
  readonly #acceptsPlain: boolean;
  /** A place needs the hash of its token twice. */
  #last = { token: '', hash: digest('sha256', '', 'buffer') };

  constructor(keys: VaultKeys | undefined) {
    this.#keys = keys?.keys.map(keySet) ?? [];
    this.#acceptsPlain = keys?.acceptsPlain ?? true;
  }

  get hasKey(): boolean {
    return this.#keys.length > 0;
  }

  /** The prefix of everything that `seal` makes now; undefined without a key. */
  get sealMark(): Buffer | undefined {
    const [first] = this.#keys;
    return first && Buffer.concat([Buffer.of(BOUND), first.mark]);
  }

  /** The 32 bytes by which a token is stored and found. */
  hash(token: string): Buffer {
    if (token !== this.#last.token) this.#last = { token, hash: digest('sha256', token, 'buffer') };
    return this.#last.hash;
  }

  /** Replaces a token in a stored message: its hash, in a form that no token has. */
  reference(token: string): string {
    return REFERENCE + this.hash(token).toString('base64url');
  }

  /** @returns the hash in a reference; undefined for a token */
  hashOfReference(text: string): Buffer | undefined {
    if (!text.startsWith(REFERENCE)) return undefined;
    return Buffer.from(text.slice(REFERENCE.length), 'base64url');
  }

  /** An unguessable token of 43 characters; with a key, always the same for the same identity. */
  make(identity: TokenIdentity): string {
    const [first] = this.#keys;
    return first === undefined ? randomBytes(32).toString('base64url') : derive(first, identity);
  }

  /**
   * The token made for this identity under any key. @param tokenHash under which it was stored
   * @returns undefined if it was made in another way, or its key is missing
   */
  remake(identity: TokenIdentity, tokenHash: Buffer): string | undefined {
    return this.#keys
      .map((key) => derive(key, identity))
      .find((token) => isSame(this.hash(token), tokenHash));
  }

  /** Whether the first key derives the token of this hash, so that no other key is needed. */
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
  };
}

/** Prepared once: importing a key from bytes costs more than using it. */
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
function decrypt(key: KeyObject, sealed: Buffer, binding: Binding): string | undefined {
  const tagEnd = NONCE_BYTES + TAG_BYTES;
  if (sealed.length < tagEnd) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(associatedData(binding));
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, tagEnd));
  const text = decipher.update(sealed.subarray(tagEnd), undefined, 'utf8');
  try {
    return text + decipher.final('utf8');
  } catch {
    // Node only says that authentication failed, not why.
    return undefined;
  }
}

function associatedData(binding: Binding): Buffer {
  return Buffer.from(JSON.stringify(binding));
}

function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
