import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { z } from 'zod';
import { errorMessage } from '../../lib/faults.ts';

/** Enough for a chain of certificates, not for a bundle of all public authorities. */
const PEM_LENGTH_MAX = 65_536;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

const pem = () => z.string().max(PEM_LENGTH_MAX);

const certificates = () =>
  pem().refine((text) => certificatesIn(text) !== undefined, {
    error: `must be certificates in PEM form: take the file by \${file:/run/secrets/...}`,
  });

/** `wallet.tls`: a wallet behind a private authority, or one that asks callers for a certificate. */
export const tlsSchema = z
  .strictObject({
    ca: certificates()
      .optional()
      .describe("The only trusted certificate authorities, PEM; left out: the system's"),
    cert: certificates()
      .optional()
      .describe(
        "The certificate that is shown to the wallet, PEM, with its authorities' behind it",
      ),
    key: pem()
      .refine((text) => privateKeyIn(text) !== undefined, {
        error: `must be a private key in PEM form without a passphrase: take the file by \${file:/run/secrets/...}`,
      })
      .optional()
      .describe('Its private key, PEM'),
  })
  .superRefine(({ ca, cert, key }, context) => {
    const wrong = (path: string[], message: string) =>
      context.addIssue({ code: 'custom', path, message });
    if (ca === undefined && cert === undefined && key === undefined) {
      wrong([], 'is empty: give ca, or cert and key, or remove it');
    }
    if ((cert === undefined) !== (key === undefined)) {
      wrong([cert === undefined ? 'cert' : 'key'], 'is missing: cert and key go together');
      return;
    }
    const [own] = (cert !== undefined && certificatesIn(cert)) || [];
    const privateKey = key === undefined ? undefined : privateKeyIn(key);
    if (own === undefined || privateKey === undefined) return;
    if (!own.checkPrivateKey(privateKey)) {
      wrong(['key'], 'is not the key of the first in cert');
      return;
    }
    const refusal = refusalOf({ cert, key });
    if (refusal !== undefined) wrong(['cert'], `cannot be shown to a wallet: ${refusal}`);
  })
  .describe('For a wallet with a private authority, or one that asks for a client certificate');

function certificatesIn(text: string): readonly X509Certificate[] | undefined {
  const found = text.match(CERTIFICATE);
  if (found === null) return undefined;
  try {
    return found.map((one) => new X509Certificate(one));
  } catch {
    // The error only names byte positions, which helps nobody.
    return undefined;
  }
}

function privateKeyIn(text: string): KeyObject | undefined {
  try {
    return createPrivateKey(text);
  } catch {
    // The reason may quote the key.
    return undefined;
  }
}

/** Why OpenSSL refuses to use it: it accepts no short keys and no old digests. */
function refusalOf(own: Pick<SecureContextOptions, 'cert' | 'key'>): string | undefined {
  try {
    createSecureContext(own);
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}
