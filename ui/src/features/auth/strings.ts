import { defineStrings } from "../../i18n";

export const strings = defineStrings({
  en: {
    title: "Sign in to Interlock", user: "User name", password: "Password", signIn: "Sign in", with: (name: string) => `Continue with ${name}`, or: "or",
    wrong: "The name or the password is wrong.", noRole: "You are known, but have no role here. Ask an administrator to give you one.",
    tooMany: (s: number) => `Too many attempts. Try again in ${s} seconds.`,
    noWay: "Nobody can sign in here yet: no user has a password, and single sign-on is off. Use an admin token with the API or the command line.",
    error: {
      no_role: "The issuer knows you, but you have no role here. Ask an administrator to give you one.",
      oidc_failed: "The issuer did not confirm who you are. Try again.", oidc_unavailable: "The issuer can't be reached. Try again in a moment.",
      oidc_expired: "That took too long, or was started in another window. Try again.", oidc_off: "Single sign-on is switched off.", failed: "Signing in failed. Try again.",
    } as Record<string, string>,
    setupTitle: "Set up Interlock", setupIntro: "Make the first administrator. Others are added with interlock users set-password, or sign in through your OpenID issuer.",
    repeat: "Password again", differ: "The two passwords are not the same.", setUp: "Create and sign in",
    passwordHint: "At least 10 characters. A sentence is easier to remember than signs.",
    noToken: "Open the link that Interlock printed when it started: it ends with a token that proves you may see its output.",
    noTokenHint: "It looks like this. It holds for an hour; restart Interlock for a new one.",
    wrongToken: "This link is used up or older than an hour. Restart Interlock: it prints a new one.", alreadySetUp: "There is an administrator already.", toSignIn: "Go to sign-in",
  },
  sv: {
    title: "Logga in i Interlock", user: "Användarnamn", password: "Lösenord", signIn: "Logga in", with: (name) => `Fortsätt med ${name}`, or: "eller",
    wrong: "Namnet eller lösenordet är fel.", noRole: "Du är känd, men har ingen roll här. Be en administratör ge dig en.",
    tooMany: (s) => `För många försök. Försök igen om ${s} sekunder.`,
    noWay: "Ingen kan logga in här än: ingen användare har ett lösenord och enkel inloggning är av. Använd en admintoken med API:et eller kommandoraden.",
    error: {
      no_role: "Utfärdaren känner dig, men du har ingen roll här. Be en administratör ge dig en.",
      oidc_failed: "Utfärdaren bekräftade inte vem du är. Försök igen.", oidc_unavailable: "Utfärdaren går inte att nå. Försök igen om en stund.",
      oidc_expired: "Det tog för lång tid, eller så började det i ett annat fönster. Försök igen.", oidc_off: "Enkel inloggning är avstängd.", failed: "Inloggningen misslyckades. Försök igen.",
    },
    setupTitle: "Sätt upp Interlock", setupIntro: "Skapa den första administratören. Andra läggs till med interlock users set-password, eller loggar in genom er OpenID-utfärdare.",
    repeat: "Lösenordet igen", differ: "De två lösenorden är inte lika.", setUp: "Skapa och logga in",
    passwordHint: "Minst 10 tecken. En mening är lättare att minnas än tecken.",
    noToken: "Öppna länken som Interlock skrev ut vid starten: den slutar med en token som visar att du får se dess utskrift.",
    noTokenHint: "Den ser ut så här. Den gäller i en timme; starta om Interlock för en ny.",
    wrongToken: "Länken är använd eller äldre än en timme. Starta om Interlock: då skrivs en ny ut.", alreadySetUp: "Det finns redan en administratör.", toSignIn: "Till inloggningen",
  },
});
