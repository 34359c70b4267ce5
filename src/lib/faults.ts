/** What went wrong, from anything that was thrown; the error of several addresses has no message of its own. */
export function errorMessage(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(errorMessage).join('; ');
  }
  return error instanceof Error ? error.message : String(error);
}

const FILE_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EISDIR: 'is a folder',
  EACCES: 'cannot be read: permission denied',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8 text',
};

/** What is wrong with a file, from Node's error: `does not exist`. */
export function fileFault(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return FILE_FAULTS[code] ?? `cannot be read: ${code}`;
}
