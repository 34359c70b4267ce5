import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';

/**
 * Installs Debian's package without its service coming up: `policy-rc.d` is the way Debian has for
 * that, taken away again however the script ends; where one stands already it is left alone.
 */
const INSTALL_SCRIPT = `
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 130' HUP INT TERM
  printf '#!/bin/sh\\nexit 101\\n' > "$policy" && chmod 755 "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
install='apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=120 redis-server'
$install || { apt-get update && $install; } || exit 1
if [ -d /run/systemd/system ]; then systemctl disable redis-server || exit 1; fi
`;

/**
 * Brings `redis-server` to this machine if we may.
 *
 * @param log told before it begins, because it takes a while
 * @throws Error, one line that says what to do instead, where we may not or it fails
 */
export async function installRedis(log: (line: string) => void): Promise<void> {
  const mayInstall = process.getuid?.() === 0 && existsSync('/etc/debian_version');
  if (!mayInstall) throw new Error(`redis-server is not on PATH: ${WHAT_TO_DO}`);
  log('redis-server is not on PATH: installing the package redis-server with apt-get');
  const script = spawn('sh', ['-c', INSTALL_SCRIPT], { stdio: ['ignore', 'ignore', 'pipe'] });
  const [complaints, [code]] = await Promise.all([text(script.stderr), once(script, 'exit')]);
  if (code === 0) return;
  const lastWord = complaints.trim().split('\n').at(-1) ?? '';
  throw new Error(`apt-get could not install redis-server (${lastWord}): ${WHAT_TO_DO}`);
}

const WHAT_TO_DO =
  'install it (Debian, Ubuntu: apt-get install redis-server; macOS: brew install redis) or name a running one in REDIS_URL (for the tests TEST_REDIS_URL)';
