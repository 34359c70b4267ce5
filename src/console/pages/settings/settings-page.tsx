import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/call.ts';
import { useLive } from '../../api/queries.ts';
import type { Answers } from '../../api/wire.ts';
import { Action } from '../../parts/action.tsx';
import { Answered } from '../../parts/answered.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Heading } from '../../parts/heading.tsx';
import { Plain } from '../../parts/plain.tsx';
import { QuickFilter } from '../../parts/quick-filter.tsx';
import { SettingsTable } from '../../parts/settings-table.tsx';
import { ReloadPreview } from './reload-preview.tsx';

type Reload = Answers['POST /admin/reload'];

const route = getRouteApi('/settings');

/** The answer is large with a thousand operators. */
const EVERY_SECONDS = 15;

/** The configuration in force, and the button that reloads it with its result. */
export function SettingsPage() {
  const settings = useLive('GET /admin/config', { everyMs: EVERY_SECONDS * 1_000 });
  const [result, setResult] = useState<Reload | undefined>();
  return (
    <>
      <Heading title="Settings" query={settings} oldAfterSeconds={2 * EVERY_SECONDS}>
        <Action
          right="administer"
          label="Reload"
          tone="main"
          title="Reload the configuration"
          about="Reads the folder again. An invalid file leaves its last good version in force."
          reason="optional"
          run={async (reason) => setResult(await call('POST /admin/reload', { body: { reason } }))}
        />
      </Heading>
      {result !== undefined && <ReloadResult result={result} />}
      <ReloadPreview />
      <Answered query={settings} what="settings">
        {(view) => <Files view={view} />}
      </Answered>
    </>
  );
}

function ReloadResult({ result }: { readonly result: Reload }) {
  const { changed, problems } = result;
  const changes = [
    ...(changed.gateway ? ['gateway.yaml changed'] : []),
    ...changed.added.map((id) => `${id} added`),
    ...changed.updated.map((id) => `${id} changed`),
    ...changed.removed.map((id) => `${id} removed`),
  ];
  return (
    <div className={result.result === 'ok' ? 'notice good' : 'notice bad'} role="status">
      <p>
        Reload: <Badge state={result.result} />{' '}
        {changes.length === 0 ? 'Nothing has changed.' : <Plain text={`${changes.join(', ')}.`} />}
      </p>
      {problems.length > 0 && (
        <ul>
          {problems.map(({ file, path, reason }) => (
            <li key={`${file} ${path} ${reason}`}>
              <code>
                <Plain text={path === '' ? file : `${file}: ${path}`} />
              </code>
              : <Plain text={reason} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Files({ view }: { readonly view: Answers['GET /admin/config'] }) {
  const { find = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const operators = Object.entries(view.operators).filter(([id]) =>
    id.includes(find.toLowerCase()),
  );
  return (
    <>
      <section aria-labelledby="gateway">
        <h2 id="gateway">gateway.yaml</h2>
        <SettingsTable settings={view.gateway} label="gateway.yaml" />
      </section>
      <section aria-labelledby="operators">
        <h2 id="operators">operators/</h2>
        <QuickFilter
          label="Only operators whose id contains"
          placeholder="Filter operators"
          value={find}
          onChange={(text) => void navigate({ search: { find: text }, replace: true })}
        />
        {operators.length === 0 && <p className="muted">No such operator.</p>}
        {operators.map(([id, settings]) => (
          <OperatorFile key={id} id={id} settings={settings} />
        ))}
      </section>
    </>
  );
}

/** Closed at first: with a thousand operators nobody wants to see them all. */
function OperatorFile({
  id,
  settings,
}: {
  readonly id: string;
  readonly settings: Answers['GET /admin/config']['gateway'];
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{id}.yaml</summary>
      {isOpen && <SettingsTable settings={settings} label={`${id}.yaml`} />}
    </details>
  );
}
