import { createHmac } from 'node:crypto';
import type { HttpRequest } from '../../outbound/http-message.ts';
import { sign, signingKeys } from '../../protocol/signature.ts';

/**
 * The correct signatures of a request, for the JWS header that the gateway writes and for the one that was
 * sent, in all encodings: a wallet that reveals them would sign for anybody.
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
