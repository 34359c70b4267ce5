/** The gateway, which is sent SIGHUP as soon as its handlers stand, long before all of it is loaded. */
process.on('newListener', (event: string | symbol) => {
  if (event !== 'SIGINT') return;
  queueMicrotask(() => {
    process.stdout.write('{"msg":"hung up on"}\n');
    process.kill(process.pid, 'SIGHUP');
  });
});

await import('../../../src/main.ts');

export {};
