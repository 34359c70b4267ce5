import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Certificate } from '../certify/certificate.ts';
import { CommandFailed } from './failures.ts';

/**
 * Writes `certificate.json` and `certificate.html` into a folder, which is made where it is missing.
 * @returns their paths
 * @throws CommandFailed when they cannot be written
 */
export async function writeCertificate(
  folder: string,
  certificate: Certificate,
): Promise<readonly string[]> {
  const { htmlReport } = await import('../certify/html-report.ts');
  const files = [
    [join(folder, 'certificate.json'), `${JSON.stringify(certificate, undefined, 2)}\n`],
    [join(folder, 'certificate.html'), htmlReport(certificate)],
  ] as const;
  try {
    await mkdir(folder, { recursive: true });
    for (const [path, text] of files) await writeFile(path, text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailed(`the certificate cannot be written: ${why}`, { cause: error });
  }
  return files.map(([path]) => path);
}
