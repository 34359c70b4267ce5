import { afterAll } from 'vitest';
import { endProcesses } from './processes.ts';

// Evaluated again for each test file, even if files share a process.
afterAll(endProcesses);
