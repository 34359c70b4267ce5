import type { SettingsView, SettingView } from '../../config/settings-view.ts';
import { Plain } from './plain.tsx';

/** Settings by their path. Secrets are shown by the beginning of their fingerprints. */
export function SettingsTable({
  settings,
  label,
}: {
  readonly settings: SettingsView;
  readonly label: string;
}) {
  return (
    <table className="settings" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">Setting</th>
          <th scope="col">Value</th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(settings).map(([path, value]) => (
          <tr key={path}>
            <th scope="row">
              <code>
                <Plain text={path} />
              </code>
            </th>
            <td>
              <Value value={value} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const FINGERPRINT_LENGTH = 10;

function Value({ value }: { readonly value: SettingView }) {
  if (typeof value === 'string') return <Plain text={value} />;
  return (
    <span className="muted">
      {value.secrets.length === 1 ? 'secret ' : `${value.secrets.length} secrets `}
      {value.secrets.map((print) => (
        <code key={print}>{print.slice(0, FINGERPRINT_LENGTH)} </code>
      ))}
    </span>
  );
}
