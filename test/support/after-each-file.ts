import { afterAll } from 'vitest';
import { endProcesses } from './processes.ts';

// Evaluated anew for each test file, also where files share a process.
afterAll(endProcesses);
