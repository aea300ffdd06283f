import { useLive } from "../api/events";
import { common } from "../i18n/common";
import { useStrings } from "../i18n";

// LiveSign says if what is on screen follows the server by itself.
export function LiveSign() {
  const t = useStrings(common);
  const live = useLive();
  return (
    <span className="il-live" data-live={live} role="status">
      {live === "on" ? t.live : live === "lost" ? t.liveLost : t.liveOff}
    </span>
  );
}
