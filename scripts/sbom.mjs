// Writes what runs in production as a CycloneDX document to stdout, by `npm sbom`.
import { spawnSync } from 'node:child_process';

const { status } = spawnSync(
  'npm',
  ['sbom', '--silent', '--omit=dev', '--sbom-format=cyclonedx', '--sbom-type=application'],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;
