"""How much an English word says about the subject of a prompt: the rarer in English at large, the more. Pure.

The vault's own frequencies can't say this: a word that the vault lacks may be the very subject, or "favourite". The
table holds the commonest stems by half steps of the decimal logarithm of their frequency in a thousand million words.
It is made by ``tests/eval/make_background.py``; ADR 0023 says from what.
"""

from __future__ import annotations

LEAST_WEIGHT = 0.3
UNCOMMON_WEIGHT = 5.0
_SCALE = 7.5
_COMMON = {
    8.0: ("the you "),
    7.5: ("and "),
    7.0: ("for know that thi wa what "),
    6.5: ("all also ar but doc first from ha had have hi http just not well were which with your "),
    6.0: (
        "about after back becaus been between can citi come could did dure get go good got hei her here him how into "
        "it known later like littl look made mai mani mean more most nation new now okai on onli other out over "
        "realli right sai school see she some someth state such take tell thei their then there think three time two "
        "under unit univers us wai want when where while who why will world would ye yeah year "
    ),
    5.5: (
        "actual ag again against album along although alwai american ani anoth anyth area around ask august awai babi "
        "bad band base be becam befor began believ best better big born both british build built call came care "
        "career centuri church club colleg compani counti cours dad dai decemb district do doe done down due each "
        "earli east els end enough even ever everi everyth famili father feel film final find fine five follow former "
        "found four game gener give god gonna govern great group guess gui happen hear held hell help high histori "
        "home hous howev huh idea includ intern januari juli june keep kind knew larg last leagu leav left let life "
        "line listen local locat lot major make man march mayb member might mind mom much music must name need never "
        "nice night north noth novemb number octob off old our part parti peopl place plai pleas popul public put "
        "releas rememb river room said same season second septemb seri serv servic sever should show sinc singl small "
        "someon song sorri south stai station still stop sure system talk team than thank them these thing those "
        "thought through togeth told tonight too took town try understand until veri villag wait war whole within "
        "woman won work wrong york yourself "
    ),
    5.0: (
        "abl abov absolut academi accord across act ad addit afraid ago ahead air aircraft aliv almost alon alreadi "
        "alright among announc answer anybodi anymor anyon anywai anywher appear appoint appreci approxim armi art "
        "ass associ australia australian avail averag award bank battl beauti becom bed behind bet bit blood board "
        "bodi boi book break bridg bring brother brought bui busi bye california campaign canadian cannot capit car "
        "carli case caus censu center centr central certainli championship chanc chang charact check chief child "
        "children china chines choic christma civil class clear close coach coast cold committe common commun "
        "competit complet confer consid construct continu control cool council countri coupl court crane crazi creat "
        "cup current cut daddi danc date daughter dead deal dear death debut degre depart describ design despit "
        "develop di die differ dinner direct director divis door dream drink drive drop easi eastern eat educ eight "
        "either elect england english episod especi establish europ european event eventu everybodi everyon exactli "
        "exampl except excus explain ey face fact far fast fault featur februari feder felt festiv few field fight "
        "figur finish food forc forget form fourth franc free french friend front full fun funni further futur gave "
        "german germani girl given glad goe gold gone gotta grand ground gun hair half hand handl hang happi hard "
        "hate head health heard heart himself histor hit hmm hold honei hope hospit hot hour human hundr hurt husband "
        "import independ india indian industri inform insid instead institut involv island japan japanes jen job join "
        "kid kill kingdom kiss ladi lake land languag largest late law lead least led less level lie light list live "
        "lose lost love low lower luck ly mad magazin main manag market marri marriag match matter meant media meet "
        "men met middl militari million mine minist minut miss mistak model modern moment month morn move movement mr "
        "museum myself near network next nobodi non none northern obvious offic offici often onc ooh open order organ "
        "origin outsid own pai pain parent park past per perfect perform period person phone pick pictur plan player "
        "point polit poor popular posit possibl post power present presid pretti probabl problem process produc "
        "product profession program project promis protect provid provinc publish question quit race radio railwai "
        "rang rather read readi real realiz reason receiv record red refer region relationship remain report research "
        "rest result return road rock role round rout royal run safe san save saw scare scienc sea section seem seen "
        "send sens sent seriou set seven sex short shot shut sick side sign similar sir sister sit site six size "
        "sleep social societi sold somebodi sometim somewher son sonni soon sort sound southern space speak speci "
        "special spend sport stage stand start stori straight street student studi stuff style support suppos surpris "
        "sweet sweetheart taken technolog televis ten term third though throughout throw thu titl todai tomorrow top "
        "total touch tour track train tri true trust truth turn twenti type union unless upon upset usual vallei "
        "variou version video walk wanna watch water wed week weird went western whoa wife win wish without women "
        "wonder word worri wors wow written wrote yet "
    ),
    4.5: (
        "abil academ accept accid account achiev acquir action activ actor actress address administr admit adopt "
        "adult advanc advantag advic affair afford africa african afternoon agenc agent agre agreement agricultur "
        "ahem airport alcazar allianc allow alongsid altern amaz amount analysi ancient angel anger angri anim annual "
        "anti anytim apart apolog appar appli applic approach architectur arm arrest arriv articl artist asham asia "
        "asian asid asleep assembl assign assist assum atlant attack attempt attend attent attitud attornei audienc "
        "aunt author avenu avoid aw awak awar background badli bai bail bar bare basement basi basic basketbal "
        "bathroom battalion beat bedroom begin behavior belong below besid beyond bigger biggest bike billboard "
        "billion biographi birth birthdai bite blah blame bleed blew blind block bloodi blow boat bomb bone border "
        "bore borrow boss bother bottl bottom bought bout bowl box boyfriend brand brave breakfast breath bride "
        "brigad brilliant britain broadcast broke broken bronz buck buffi bureau buri burn butt cabin cake calm "
        "camera camp campu candid capabl capac captur card carri cast castl catch categori cathol caught celebr cell "
        "cemeteri ceremoni certain chair chairman challeng champagn champion channel charg chart cheap chef chest "
        "chloe chocol choos chose chosen circumst citizen claim classic clean clearli client climat clock closer "
        "closet cloth clue coat code collect colonel color columbia combat combin comedi comfort command commerci "
        "commiss commit commonli communist compar compet complex complic compos concentr concept concern concert "
        "condit conduct confirm conflict confus congratul congress connect conserv consist constitut contact contain "
        "contemporari content contract convent convers convinc cop copi core corintho corner corp corpor correct cost "
        "count cousin cover crack crap crash cream creation credit creek crew crime crimin cristian critic crown cry "
        "cultur custodi cute daili damag danger dare dark darl data deacon decent decid decis declar dedic deep "
        "defeat defenc defens defin definit democrat demon deni densiti depend deputi deriv descript deserv desk "
        "desper destroi detail detect difficult directli dirti disappear disappoint discov discuss diseas distanc "
        "distribut divid divorc doctor documentari dog doin doll dollar doubl doubt downstair draft drag drama draw "
        "dress drove drug drunk dude dumb dump dutch duti dy ear earlier earn earth easier econom economi edg edit "
        "editor effect effort element elev emerg emot emperor emploi empti enemi energi engag engin enjoi enter "
        "entertain entir entitl entri environ environment equip era escap estat estim everywher evid evil exact excel "
        "exchang excit execut exist expand expans expect expens experi explan extend extens extra extrem fabul facil "
        "factori faculti fail fair fake fall fame familiar famou fan fanci fantast farm fate favor favorit fear feed "
        "feet fell fellow femal fiction fifteen fifth fifti file fill financi finger fire firm fix fleet flight floor "
        "fly focu folk fool foot footbal foreign forgiv forgot forgotten format formerli forrest fort forti fortun "
        "forward fought foundat founder frankli frasier freak freez frequent fresh friendship fuckin fulli function "
        "fund funer gain galleri garag garbag gentlemen genu geographi gift gimm girlfriend glass global goal goddamn "
        "goin goodby gorgeou gosh gotten governor grab grade graduat grandfath grandma grandmoth grant grate greater "
        "greatest greek greenle grew grow grown growth guarante guard guest guilt guilti gut handsom harder hardli "
        "harm harmoni headquart healthi heat heavi heritag hero herself hide higher highest highli highwai hill hire "
        "hole holi honest honestli honeymoon honor hook horribl host hotel household huge hungri hurri ic identifi "
        "idiot ignor illinoi imag imagin immedi impact imperi imposs impress incom incorpor increas incred inde "
        "individu infantri influenc initi injuri innoc inspir insur intellig intend interest interior interrupt "
        "interview introduc investig invit iran ireland irish iron issu itali italian itself jacket jail jax jazz "
        "jealou jeez jerk jersei jewish joint joke journal judg jump juri kept kick kidnap kinda kitchen knife knock "
        "knowledg kong korea korean label labor labour lack larger latin latter laugh launch lawyer leader leadership "
        "learn leg legal legisl length lesson letter lexi li liar liber librari licens lieuten lifetim lift limit lip "
        "literari literatur livvi lo lock lone longer loos lord lorelai loss loud lousi lunch mail mainli male mama "
        "marah mark mass massachusett mateo materi maximum mayor meal meantim meat medal median medic medicin memori "
        "mention mess messag metal method metr mid mile milk ministri minnesota miracl mirror miser mission mix mmm "
        "mobil mommi mood mostli mount mountain mouth movi multi multipl municip murder mysteri nativ natur naval "
        "navi nbsp nearbi nearli necessari neck neither nervou netherland newli newspap nightmar nikola nile nine "
        "nois nomin nope normal northeast northwest nose notabl note nothin notic novel nowher nuclear numer nurs nut "
        "oakdal obtain obviou occupi occur ocean offer ohio older oldest olymp ontario onto oper opera opinion "
        "opportun opposit orchestra otherwis ought ourselv outta overal ow owner pacei pacif pack paid paint palac "
        "pant paper pardon pari parish parliament particip particular particularli partner pass pathet patient peac "
        "peak pennsylvania percent perfectli perhap perman permiss phase philadelphia philosophi phoeb photo physic "
        "piec pill pilot plane plant plate platform pleasur plenti plot plu pocket poetri poland polici polish "
        "politician pool port portion potenti practic prai prefer pregnant premier prepar presenc press pressur "
        "pretend prevent previou previous primari primarili prime princip prior prison prize professor programm prom "
        "promin promot proof properti propos proud prove provinci prue pull purchas purpos purs push qualiti quarter "
        "queen quick quickli quiet radar rafe rail railroad rain rais ran rank rate reach realiti recent recept "
        "recogn recognit reduc refus regiment regist regret regular rel relat relax religi religion remind remov "
        "renam rent repeat replac repres republ republican requir reserv resid resourc respect respons restaur retir "
        "reveal reveng review revolut ride ridg ridicul ring rise risk roll romant rome roof rough rude rugbi ruin "
        "rule rural russian safeti saint sake sale salem sami saturdai scale scari scene schedul scientif score "
        "scottish scream screen screw search seat secondari secret secretari sector select self selfish sell semi "
        "senat senior sensit sentenc separ serious settl settlement shake shall shame share sheridan shift ship shirt "
        "shock shoe shoot shop shortli shoulder shower shown sight signific silli simpli sing singer situat sixth "
        "skin skye slept slip slow smaller smart smell smile soft soldier solo somedai somehow someplac somethin "
        "sooner soul soup sourc southeast soviet spain spanish spare specif speech speed spell spent split spoke spot "
        "spread squad squadron squar stadium staff stake standard star stare statement statu steal steel stenbeck "
        "step stick stock stole stolen stomach stood store strang strength stress stronger structur stuck studio "
        "subject subsequ succeed success sudden suddenli suffer suggest suit suppli suprem surfac surgeri surround "
        "surviv suspect swear sweden swedish sweeti switch tabl talent tall tape tast taught teach tear technic teeth "
        "templ terribl terrif territori tess test texa text thanksgiv theater theatr theme themselv theori therapi "
        "therefor thirti thousand threat threaten threw thrill throat thrown ti ticket tight till tini tire toast "
        "tongu tough tournament toward tower township trade tradit traffic transfer transport trash traver treat "
        "treati treatment tree trial trick trip troop tropic truli twelv twice typic ugli ultim unabl unbeliev uncl "
        "uncomfort understood unfortun uniqu unknown unlik upper upstair urban valu varieti vega vehicl via vice "
        "victim view viki visit voic volum vote wake wale warm warn wash wast weak weapon wear websit weekend weekli "
        "weight whenev wherev whether whoever whom whoo whose wide wild wind window wine wing wit witch woke worker "
        "worldwid worst worth wound write writer xander yard yesterdai younger youth zander zealand zone "
    ),
}

_WEIGHTS = {form: max(LEAST_WEIGHT, _SCALE - step) for step, forms in _COMMON.items() for form in forms.split()}


def weigh(form: str) -> float:
    """Return what a word, stemmed and in small letters, weighs: from 0.3 for the commonest to 5 for an uncommon one."""
    return _WEIGHTS.get(form, UNCOMMON_WEIGHT)
