import { createPrisma } from '../../../../src/store/schema/prisma.ts';

Object.assign(WebAssembly, {
  // Compiles where it is called, and lets nothing else happen meanwhile.
  Module: class {
    constructor() {
      throw new Error('compiled in the event loop');
    }
  },
});

const [, , url = ''] = process.argv;
const prisma = createPrisma(url);
process.stdout.write(`${await prisma.bet.count()} bets`);
await prisma.$disconnect();
