import { createHmac } from 'node:crypto';
import type { HttpRequest } from '../../outbound/http-message.ts';
import { sign, signingKeys } from '../../protocol/signature.ts';

/** How a request was signed, so that it can be repeated. */
export type SignedAs =
  /** With the wallet's secret, over the body that is sent. */
  | { readonly kind: 'proper' }
  | { readonly kind: 'other_secret'; readonly secret: string }
  | { readonly kind: 'unsigned' }
  /** Properly, and then changed as by this sed expression. */
  | { readonly kind: 'changed'; readonly sed: string }
  | { readonly kind: 'constant'; readonly jws: string }
  /** Over another body than the one that is sent. */
  | { readonly kind: 'other_body'; readonly signedBody: string }
  /** Over another body, which is contained in the signature itself. */
  | { readonly kind: 'attached_body'; readonly signedBody: string }
  | { readonly kind: 'other_header'; readonly header: string };

/** Changes a request after it was signed, for cases about signatures. */
export interface ForgedRequest {
  readonly change: (request: HttpRequest) => HttpRequest;
  readonly signedAs: (request: HttpRequest) => SignedAs;
}

/** Nobody has this secret; a wallet that accepts it accepts any. */
const FOREIGN_SECRET = 'certification: a secret that no wallet has';

/** Signed correctly, but with another secret. */
export const foreignSecret: ForgedRequest = {
  change: (request) => {
    const [key] = signingKeys([FOREIGN_SECRET]);
    if (key === undefined) throw new Error('one secret makes one key');
    return withSignature(request, sign(request.body, key));
  },
  signedAs: () => ({ kind: 'other_secret', secret: FOREIGN_SECRET }),
};

/** Not signed at all. */
export const unsigned: ForgedRequest = {
  change: (request) => {
    const { 'x-sign-jws': _jws, 'x-sign': _legacy, ...headers } = request.headers;
    return { ...request, headers };
  },
  signedAs: () => ({ kind: 'unsigned' }),
};

/** Changes the right signature; `sed` makes the same change in a shell. */
function changedBy(change: (mac: string) => string, sed: string): ForgedRequest {
  return {
    change: (request) => {
      const jws = request.headers['x-sign-jws'] ?? '';
      const at = jws.lastIndexOf('.') + 1;
      return withSignature(request, jws.slice(0, at) + change(jws.slice(at)));
    },
    signedAs: () => ({ kind: 'changed', sed }),
  };
}

function otherCharacter(mac: string, at: number): string {
  const other = mac[at] === 'A' ? 'B' : 'A';
  return mac.slice(0, at) + other + mac.slice(at + 1);
}

/** The right signature with its first character changed; it is still base64url. */
export const changedSignature = changedBy(
  (mac) => otherCharacter(mac, 0),
  's/\\.\\.[^A]/..A/;t;s/\\.\\.A/..B/',
);

/** The last character has two unused bits: changing only those would leave the same signature. */
export const changedEnd = changedBy(
  (mac) => otherCharacter(mac, mac.length - 2),
  's/[^A]\\(.\\)$/A\\1/;t;s/A\\(.\\)$/B\\1/',
);

/** Half of the 43 characters of a right signature. */
const HALF = 21;

/** The right signature without its second half. */
export const shortened = changedBy(
  (mac) => mac.slice(0, HALF),
  `s/\\(\\.\\..\\{${HALF}\\}\\).*/\\1/`,
);

/** A library that refuses the first may accept the others (RFC 8725, section 3.1). */
export const NO_ALGORITHMS = ['none', 'None', 'NONE', 'nOnE'] as const;

/** A header that asks for no algorithm, without a signature. */
export function noAlgorithm(name: (typeof NO_ALGORITHMS)[number]): ForgedRequest {
  const jws = `${base64url(`{"alg":"${name}","typ":"JWT"}`)}..`;
  return {
    change: (request) => withSignature(request, jws),
    signedAs: () => ({ kind: 'constant', jws }),
  };
}

/** Signed for one body and sent with another. */
export function otherBody(body: string): ForgedRequest {
  return {
    change: (request) => ({ ...request, body: Buffer.from(body, 'utf8') }),
    signedAs: (signed) => ({ kind: 'other_body', signedBody: signed.body.toString('utf8') }),
  };
}

/** Signed for one body, put into the signature as its payload, and sent with another. */
export function attachedBody(body: string): ForgedRequest {
  return {
    change: (request) => {
      const jws = request.headers['x-sign-jws'] ?? '';
      const attached = jws.replace('..', `.${request.body.toString('base64url')}.`);
      return withSignature({ ...request, body: Buffer.from(body, 'utf8') }, attached);
    },
    signedAs: (signed) => ({ kind: 'attached_body', signedBody: signed.body.toString('utf8') }),
  };
}

const ALGORITHM_FIRST = base64url('{"alg":"HS256","typ":"JWT"}');
const EMPTY = `${ALGORITHM_FIRST}..`;

/** The right header without a signature: every right signature begins with it. */
export const emptySignature: ForgedRequest = {
  change: (request) => withSignature(request, EMPTY),
  signedAs: () => ({ kind: 'constant', jws: EMPTY }),
};

/** Values of a secret that nobody has set. */
export const UNSET_SECRETS = ['', 'undefined', 'null', 'None', 'secret'] as const;

/** Signed correctly, with a secret that anybody can guess. */
export function unsetSecret(secret: (typeof UNSET_SECRETS)[number]): ForgedRequest {
  return {
    change: (request) => withSignature(request, signedBehind(ALGORITHM_FIRST, request, secret)),
    signedAs: () => ({ kind: 'other_secret', secret }),
  };
}

const TYPE_FIRST = base64url('{"typ":"JWT","alg":"HS256"}');

/** Signed correctly, with the header's members in the order of the vendor's samples. */
export function typeFirst(secret: string): ForgedRequest {
  return {
    change: (request) => withSignature(request, signedBehind(TYPE_FIRST, request, secret)),
    signedAs: () => ({ kind: 'other_header', header: TYPE_FIRST }),
  };
}

function signedBehind(header: string, { body }: HttpRequest, secret: string): string {
  const input = `${header}.${body.toString('base64url')}`;
  const mac = createHmac('sha256', secret).update(input, 'latin1').digest('base64url');
  return `${header}..${mac}`;
}

function withSignature(request: HttpRequest, jws: string): HttpRequest {
  const legacy = request.headers['x-sign'] === undefined ? {} : { 'x-sign': jws };
  return { ...request, headers: { ...request.headers, 'x-sign-jws': jws, ...legacy } };
}

function base64url(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url');
}

/** The correct signatures of a request, in all encodings: a wallet that reveals them would sign for anybody. */
export function rightSignatures({ headers, body }: HttpRequest, secret: string): readonly string[] {
  const [key] = signingKeys([secret]);
  if (key === undefined) return [];
  const [ownHeader = ''] = sign(body, key).split('.');
  const [sentHeader = ownHeader] = (headers['x-sign-jws'] ?? ownHeader).split('.');
  const payload = body.toString('base64url');
  return [...new Set([ownHeader, sentHeader])].flatMap((header) => {
    const mac = createHmac('sha256', secret).update(`${header}.${payload}`, 'latin1').digest();
    return [mac.toString('base64url'), mac.toString('base64'), mac.toString('hex')];
  });
}
