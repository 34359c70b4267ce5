import { constants } from 'node:fs';
import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Certificate } from '../../certify/certificate/certificate.ts';
import { errorMessage, fileFault } from '../../lib/faults.ts';
import { jsonIn } from '../../lib/json-in.ts';
import { CommandFailed, UsageError } from '../failures.ts';
import { makeFolder } from '../onboarding/make-folder.ts';

const REPORT = 'certificate.html';
const CERTIFICATE = 'certificate.json';

/** Makes sure, before the run, that its results can be written. @throws UsageError otherwise */
export async function readyFolder(folder: string): Promise<void> {
  try {
    makeFolder(folder);
    await access(folder, constants.W_OK);
  } catch (error) {
    throw new UsageError(`--out ${folder}: nothing can be written there (${errorMessage(error)})`, {
      cause: error,
    });
  }
}

/** Writes both files. @returns their paths @throws CommandFailed when they cannot be written */
export async function writeCertificate(
  folder: string,
  certificate: Certificate,
): Promise<readonly string[]> {
  const { htmlReport } = await import('../../certify/report/html-report.ts');
  const files = [
    [join(folder, CERTIFICATE), `${JSON.stringify(certificate, undefined, 2)}\n`],
    [join(folder, REPORT), htmlReport(certificate)],
  ] as const;
  try {
    for (const [path, text] of files) await writeFile(path, text);
  } catch (error) {
    throw new CommandFailed(`the certificate cannot be written: ${errorMessage(error)}`, {
      cause: error,
    });
  }
  return files.map(([path]) => path);
}

/** Reads a certificate, given its file or folder. @throws UsageError when there is none */
export async function readCertificate(
  path: string,
): Promise<{ readonly certificate: Certificate; readonly isIntact: boolean }> {
  const file = path.endsWith('.json') ? path : join(path, CERTIFICATE);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file} ${fileFault(error)}`, { cause: error });
  }
  const { certificateSchema } = await import('../../certify/certificate/certificate.ts');
  const { isIntact } = await import('../../certify/certificate/digest.ts');
  const value = jsonIn(text);
  const parsed = certificateSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue === undefined ? '' : ` (${issue.path.join('.')}: ${issue.message})`;
    throw new UsageError(`${file} is not a certificate of this kit${where}`);
  }
  // Checked over the members in the text's own order, which the schema's parsing may have changed.
  return { certificate: parsed.data, isIntact: isIntact(value, parsed.data.digest) };
}
