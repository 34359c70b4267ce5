import { createHash } from 'node:crypto';
import type { Certificate } from './certificate.ts';

/** `sha256:` and the hash of a certificate without its digest, as compact JSON. */
export function digestOf(certificate: object): string {
  const { digest: _digest, ...content } = { digest: undefined, ...certificate };
  return `sha256:${createHash('sha256').update(JSON.stringify(content)).digest('hex')}`;
}

/** @returns the certificate with its digest after the version of its schema */
export function sealed(certificate: Omit<Certificate, 'digest'>): Certificate {
  const { schemaVersion, ...rest } = certificate;
  const ordered = { schemaVersion, digest: '', ...rest };
  return { ...ordered, digest: digestOf(ordered) };
}

/** Whether a document, parsed with its members in order, is unchanged since the kit wrote it. */
export function isIntact(document: unknown, digest: string): boolean {
  return typeof document === 'object' && document !== null && digest === digestOf(document);
}
