import { createHmac } from 'node:crypto';
import type { HttpRequest } from '../outbound/http-message.ts';
import { sign, signingKeys } from '../protocol/signature.ts';

/**
 * What a request's signature should have been, behind the header that the gateway writes and behind
 * the one that was sent, however it is spelled: a wallet that tells it signs for whoever asks.
 *
 * @param secret shared with the wallet
 */
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
