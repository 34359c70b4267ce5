// A parent to be killed: starts the server that its first argument names, prints its pid, and then exits as the
// second argument says, or waits to be killed.
import { startPostgres } from '../../../../tools/embedded/postgres.ts';
import { startRedis } from '../../../../tools/embedded/redis.ts';

const [, , what, leave] = process.argv;
const server = what === 'postgres' ? await startPostgres({ fast: true }) : await startRedis();
process.stdout.write(`${JSON.stringify({ pid: server.pid })}\n`);
if (leave === 'exit') process.exit(0);
if (leave === 'throw') throw new Error('on purpose');
