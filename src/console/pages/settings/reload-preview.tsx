import { useLive } from '../../api/queries.ts';
import type { Answers } from '../../api/wire.ts';
import { Answered } from '../../parts/answered.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Plain } from '../../parts/plain.tsx';

type Preview = Answers['GET /admin/config/preview'];
type Setting = Preview['gateway'][number];

const EVERY_MS = 5_000;

/** What a reload would change now, and what is invalid in the folder. */
export function ReloadPreview() {
  const preview = useLive('GET /admin/config/preview', { everyMs: EVERY_MS });
  return (
    <section aria-labelledby="preview">
      <h2 id="preview">A reload would change</h2>
      <Answered query={preview} what="preview">
        {(data) => <PreviewView preview={data} />}
      </Answered>
    </section>
  );
}

function PreviewView({ preview }: { readonly preview: Preview }) {
  const { gateway, operators } = preview;
  const isNothing = gateway.length + operators.length === 0;
  return (
    <>
      {preview.problemCount > 0 && <Problems preview={preview} />}
      {isNothing && (
        <p className="muted">
          Nothing:{' '}
          {preview.problemCount > 0 ? 'what is valid' : 'what the gateway reads in the folder'} is
          in force.
        </p>
      )}
      {gateway.length > 0 && <Change name="gateway.yaml" kind="changed" settings={gateway} />}
      {operators.map(({ id, kind, settings, warnings }) => (
        <Change key={id} name={id} kind={kind} settings={settings} warnings={warnings} />
      ))}
    </>
  );
}

function Problems({ preview: { problems, problemCount } }: { readonly preview: Preview }) {
  return (
    <div className="notice bad">
      <p>
        <strong>
          {problemCount === 1 ? 'One problem' : `${problemCount} problems`}: these files stay at
          their last good version.
        </strong>
      </p>
      <ul className="problems">
        {problems.map(({ file, path, reason }) => (
          <li key={`${file} ${path} ${reason}`}>
            <code>
              <Plain text={file} />
            </code>{' '}
            {path !== '' && (
              <>
                <code>
                  <Plain text={path} />
                </code>{' '}
              </>
            )}
            <Plain text={reason} />
          </li>
        ))}
      </ul>
    </div>
  );
}

const KIND_TONES = { added: 'good', removed: 'bad', changed: 'info' } as const;

interface ChangeProps {
  readonly name: string;
  readonly kind: keyof typeof KIND_TONES;
  readonly settings: readonly Setting[];
  readonly warnings?: readonly string[];
}

function Change({ name, kind, settings, warnings = [] }: ChangeProps) {
  return (
    <div className="change">
      <h3>
        <Plain text={name} /> <Badge state={kind} tone={KIND_TONES[kind]} />
      </h3>
      {warnings.map((warning) => (
        <p key={warning} className="notice bad">
          <Plain text={warning} />
        </p>
      ))}
      {settings.length > 0 && (
        <table className="settings" aria-label={`Changes of ${name}`}>
          <thead>
            <tr>
              <th scope="col">Setting</th>
              <th scope="col">In force</th>
              <th scope="col">After a reload</th>
            </tr>
          </thead>
          <tbody>
            {settings.map((setting) => (
              <tr key={setting.path}>
                <th scope="row">
                  <code>
                    <Plain text={setting.path} />
                  </code>
                </th>
                {'secret' in setting ? (
                  <td colSpan={2} className="muted">
                    another secret
                  </td>
                ) : (
                  <>
                    <td>
                      <SettingText text={setting.before} />
                    </td>
                    <td>
                      <SettingText text={setting.after} />
                    </td>
                  </>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

function SettingText({ text }: { readonly text: string | null }) {
  return text === null ? <span className="muted">not set</span> : <Plain text={text} />;
}
