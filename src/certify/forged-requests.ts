import { createHmac } from 'node:crypto';
import type { HttpRequest } from '../outbound/http-message.ts';
import { sign, signingKeys } from '../protocol/signature.ts';
import type { Tamper } from './wallet-connection.ts';

/** Nobody's secret; a wallet that takes it takes any. */
const FOREIGN_SECRET = 'certification: a secret that no wallet has';

/** Signed well, but with another secret. */
export const foreignSecret: Tamper = (request) => {
  const [key] = signingKeys([FOREIGN_SECRET]);
  if (key === undefined) throw new Error('one secret makes one key');
  return signedAs(request, sign(request.body, key));
};

/** Not signed at all. */
export const unsigned: Tamper = (request) => {
  const { 'x-sign-jws': _jws, 'x-sign': _legacy, ...headers } = request.headers;
  return { ...request, headers };
};

/** The right signature with one character changed, which still is base64url. */
export const tampered: Tamper = (request) => {
  const jws = request.headers['x-sign-jws'] ?? '';
  const at = jws.lastIndexOf('.') + 1;
  const other = jws[at] === 'A' ? 'B' : 'A';
  return signedAs(request, jws.slice(0, at) + other + jws.slice(at + 1));
};

/** A header that asks for no algorithm, and no signature behind it (RFC 8725, section 3.1). */
export const noAlgorithm: Tamper = (request) =>
  signedAs(request, `${base64url('{"alg":"none","typ":"JWT"}')}..`);

/** Signed for one body and sent with another. */
export function otherBody(body: string): Tamper {
  return (request) => ({ ...request, body: Buffer.from(body, 'utf8') });
}

/** Signed well, with the members of the header in the order of the vendor's samples. */
export function typeFirst(secret: string): Tamper {
  return (request) => {
    const header = base64url('{"typ":"JWT","alg":"HS256"}');
    const input = `${header}.${request.body.toString('base64url')}`;
    const mac = createHmac('sha256', secret).update(input, 'latin1').digest('base64url');
    return signedAs(request, `${header}..${mac}`);
  };
}

function signedAs(request: HttpRequest, jws: string): HttpRequest {
  const legacy = request.headers['x-sign'] === undefined ? {} : { 'x-sign': jws };
  return { ...request, headers: { ...request.headers, 'x-sign-jws': jws, ...legacy } };
}

function base64url(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url');
}
