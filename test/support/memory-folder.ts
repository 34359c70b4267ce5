import { execFile } from 'node:child_process';
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Linux keeps this folder in memory. */
const IN_MEMORY = '/dev/shm';
/** Several times what the databases of a whole run need at once; too little would fail tests at random. */
const ROOM_BYTES = 2 * 1024 ** 3;

/**
 * A folder in memory for a server's data, if this machine has one with enough room and permission to run programs.
 * Each test file has its own database of some 300 files; on some file systems creating and removing them costs more
 * processor time than all statements of the tests.
 */
export async function memoryFolder(): Promise<string | undefined> {
  return (await hasRoom()) && (await runsPrograms()) ? IN_MEMORY : undefined;
}

async function hasRoom(): Promise<boolean> {
  if (freemem() < 2 * ROOM_BYTES) return false;
  try {
    const { bavail, bsize } = await statfs(IN_MEMORY);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    // No such folder: not Linux.
    return false;
  }
}

/** Containers often mount it without permission to run programs. */
async function runsPrograms(): Promise<boolean> {
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(IN_MEMORY, 'wagergate-tests-'));
    const program = join(folder, 'program');
    await writeFile(program, '#!/bin/sh\n', { mode: 0o700 });
    await promisify(execFile)(program);
    return true;
  } catch {
    return false;
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true });
  }
}
